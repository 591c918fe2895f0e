/**
 * Query parameters of a server that reports every problem of a request at once, by the name of the
 * parameter: unknown names, wrong values, and combinations that are not allowed.
 */
import { ApiError, apiError } from '../base/errors.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { BadNumber, type Params } from './params.ts';
import type { Problems } from './route.ts';

export interface Checked {
  readonly params: Params;
  readonly check?: ((query: never) => Problems) | undefined;
}

/** Name and text of each parameter, as a request gives them. */
export type Given = Iterable<readonly [name: string, text: string]>;

/** Problems by parameter. No object: a client may choose a name such as `__proto__`. */
export type Found = Map<string, string>;

/** Throws ApiError InvalidQuery, also for the problems found before. */
export function readStrictly(
  { params, check }: Checked,
  given: Given,
  scheme: ChainScheme,
  problems: Found = new Map(),
): Record<string, unknown> {
  const values = readEach(params, given, scheme, problems);
  // A value that is wrong in itself is reported as that, and not as missing.
  const between = check?.(values as never) ?? {};
  for (const [name, problem] of Object.entries(between)) {
    if (!problems.has(name)) problems.set(name, problem);
  }
  if (problems.size === 0) return values;
  throw apiError('InvalidQuery').with({ validationErrors: Object.fromEntries(problems) });
}

/** Adds what is wrong to `problems`. A parameter given several times is one list. */
export function readEach(
  params: Params,
  given: Given,
  scheme: ChainScheme,
  problems: Found,
): Record<string, unknown> {
  const texts = new Map<string, string>();
  for (const [name, value] of given) {
    const earlier = texts.get(name);
    texts.set(name, earlier === undefined ? value : `${earlier},${value}`);
    if (!Object.hasOwn(params, name)) problems.set(name, 'unknown parameter');
  }
  const values: Record<string, unknown> = {};
  for (const [name, param] of Object.entries(params)) {
    const text = texts.get(name);
    try {
      if (text !== undefined) values[name] = param.parse(text, scheme);
      else if (param.optional === true) values[name] = param.otherwise;
      else problems.set(name, 'is required');
    } catch (error) {
      if (!(error instanceof ApiError) && !(error instanceof BadNumber)) throw error;
      if (!problems.has(name)) problems.set(name, error.message);
    }
  }
  return values;
}
