/**
 * A typed client from the same declarations that the server uses: parameters by name, the body that
 * the route reads, the reply that it declares. Integers above 2^53 arrive as bigint.
 */

import { isObject, parse, stringify, TooManyValues } from '../base/json/json.ts';
import { AnswerTooLong, type HttpAnswer, type HttpClient } from '../base/ports/http.ts';
import type { Params } from './params.ts';
import type { Route } from './route.ts';
import type { Static, TSchema } from './type.ts';

export interface ClientOptions {
  readonly apiKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** An answer with more JSON values rejects with AnswerTooLong before they are made. */
  readonly valuesMax?: number | undefined;
}

/** A parameter in the caller's form; the client encodes it for its place. */
export type Argument = string | number | bigint | boolean;

export interface CallArguments<P extends Params, Q extends Params, B> {
  readonly params?: { readonly [K in keyof P]: Argument };
  readonly query?: { readonly [K in keyof Q]?: Argument | undefined };
  readonly body?: B;
}

/** The node answered with a status of 400 or above. */
export class RefusedError extends Error {
  override name = 'RefusedError';
  readonly status: number;
  /**
   * The code of the catalogue, or the text of a compile error; undefined where there is neither.
   */
  readonly code: number | string | undefined;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    const fields = isObject(body) ? body : {};
    super(String(fields['message'] ?? fields['details'] ?? fields['error'] ?? `HTTP ${status}`));
    this.status = status;
    this.code = fields['error'] as number | string | undefined;
    this.body = body;
  }
}

export interface Client {
  /** Rejects with RefusedError, or with the error of the connection. */
  call<P extends Params, Q extends Params, B, R extends TSchema, S>(
    route: Route<P, Q, B, R, S>,
    args?: CallArguments<P, Q, B>,
  ): Promise<Static<R>>;
}

/** `baseUrl` with or without a slash at its end. */
export function client(http: HttpClient, baseUrl: string, options: ClientOptions = {}): Client {
  const base = baseUrl.replace(/\/+$/, '');
  return {
    async call(route, args = {}) {
      const answer = await http.request({
        method: route.method,
        url: base + target(route.path, args.params ?? {}, args.query ?? {}),
        headers: headersOf(route.body?.type, options.apiKey),
        body: args.body === undefined ? undefined : textOf(args.body),
        signal: options.signal,
      });
      const value = readValue(answer, options.valuesMax);
      if (answer.status >= 400) throw new RefusedError(answer.status, value);
      return value as Static<typeof route.reply>;
    },
  };
}

function target(
  path: string,
  params: Readonly<Record<string, Argument>>,
  query: Readonly<Record<string, Argument | undefined>>,
): string {
  const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name] ?? '')),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  return search.size === 0 ? filled : `${filled}?${search}`;
}

function headersOf(type: string | undefined, apiKey: string | undefined): Record<string, string> {
  return {
    accept: 'application/json',
    ...(type === undefined ? {} : { 'content-type': type }),
    ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
  };
}

const textOf = (body: unknown): string => (typeof body === 'string' ? body : stringify(body));

function readValue({ text, header }: HttpAnswer, valuesMax?: number): unknown {
  if (header('content-type')?.startsWith('application/json') !== true) return text;
  try {
    return parse(text, valuesMax);
  } catch (cause) {
    if (cause instanceof TooManyValues) throw new AnswerTooLong(valuesMax ?? 0, 'values');
    return text;
  }
}
