/**
 * Routes on the HTTP port: access, parameters, body, handler, reply, in this order.
 *
 * Everything that does not depend on the request is prepared at start. A request finds its parsers
 * in arrays and allocates only the values for its handler. A synchronous handler is answered at
 * once. No error of a handler leaves this file.
 */
import { type ApiError, apiError } from '../base/errors.ts';
import type { HttpReply, HttpRequest, HttpRoute } from '../base/ports/http.ts';
import type { Log } from '../base/ports/log.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { malformed } from '../codec/refusal.ts';
import { Answer, JSON_TYPE, print, refusal, refused } from './answer.ts';
import { type Guard, KEY_HEADERS } from './auth.ts';
import { StreamedAnswer } from './json-chunks.ts';
import { type LongBodies, LongBody } from './long-bodies.ts';
import { BadNumber, type Param, type Params } from './params.ts';
import { asksForQuotes, QUOTES_MARK, quotedLater, quotedReply } from './quoted-amounts.ts';
import { type AnyRoute, pathNames, pathPattern } from './route.ts';
import { budgetOf, mayWait } from './route-budget.ts';
import type { StreamedAnswers } from './streamed-answers.ts';
import { type Found, readEach, readStrictly } from './strict-query.ts';

/** Headers that a handler may read without naming them. */
const KEPT = ['accept'] as const;

/** How the routes of a program are served. */
export interface Serving<S> {
  readonly guards: (access: string) => Guard | undefined;
  readonly log: Log;
  /** For parameters that depend on the chain; absent where no route has one. */
  readonly scheme?: ChainScheme;
  /** For answers and bodies that take a while; absent where no route has one. */
  readonly long?: StreamedAnswers<S> & LongBodies;
  /** Unknown parameters are refused, and all problems of a query are reported at once. */
  readonly strict?: boolean;
  /** Amounts are texts for clients that ask for it (quoted-amounts.ts). */
  readonly quotes?: boolean;
}

/** Every path of every route, with and without a trailing slash. */
export function mount<S>(
  routes: readonly AnyRoute<S>[],
  services: S,
  serving: Serving<S>,
): HttpRoute[] {
  const mounted = new Map<string, HttpRoute>();
  const add = (route: AnyRoute<S>, path: string, pattern: string): void => {
    const key = `${route.method} ${pattern}`;
    if (mounted.has(key)) return;
    mounted.set(key, endpoint(route, path, pattern, services, serving));
  };
  const paths = routes.flatMap((route) =>
    [route.path, ...(route.also ?? [])].map((path) => [route, path] as const),
  );
  for (const [route, path] of paths) add(route, path, pathPattern(path));
  // Declared paths come first: where such a path ends with a slash, the slash has a meaning.
  for (const [route, path] of paths) {
    if (!path.endsWith('/')) add(route, path, `${pathPattern(path)}/`);
  }
  return [...mounted.values()];
}

function endpoint<S>(
  route: AnyRoute<S>,
  path: string,
  pattern: string,
  services: S,
  serving: Serving<S>,
): HttpRoute {
  const where = `${route.method} ${route.path}`;
  const { log, long, quotes = false } = serving;
  const scheme = serving.scheme as ChainScheme;
  const read = (serving.strict === true ? strictReader : plainReader)(route, path);
  const { body, offload } = route;
  const guard = serving.guards(route.access);
  const budget = budgetOf(route);
  const handle = route.handle as (request: unknown, services: S) => unknown;
  const failedIn =
    (request: string) =>
    (error: unknown): HttpReply =>
      refusal(error, log, { where, request });
  const finish = (
    result: unknown,
    request: string,
    isQuoted: boolean,
  ): HttpReply | Promise<HttpReply> => {
    if (!(result instanceof StreamedAnswer)) return bounded(result, budget.bytesOut);
    const reply = long!.reply(isQuoted ? quotedLater(result) : result, budget);
    return reply instanceof Promise ? reply.catch(failedIn(request)) : reply;
  };
  const answer = (
    http: HttpRequest,
    bytes: Uint8Array | undefined,
    isQuoted: boolean,
  ): HttpReply | Promise<HttpReply> => {
    // A text, since nothing of the request is there once the handler has waited.
    const { id } = http;
    try {
      const { params, query } = read(http, scheme);
      const value = body === undefined ? undefined : readBody(body, bytes);
      const answerTo = (body: unknown) => handle({ params, query, body, http }, services);
      const result = value instanceof LongBody ? long!.read(value).then(answerTo) : answerTo(value);
      if (!(result instanceof Promise)) return finish(result, id, isQuoted);
      return result.then((given) => finish(given, id, isQuoted)).catch(failedIn(id));
    } catch (error) {
      return failedIn(id)(error);
    }
  };

  return {
    method: route.method,
    pattern,
    maxBody: budget.bytesIn,
    mayWait: mayWait(route),
    // Where a key is needed, the handler may ask whose it is: without its headers all would look free.
    keep: [...KEPT, ...(guard === undefined ? [] : KEY_HEADERS), ...(route.keep ?? [])],
    keepsAddress: route.keepsAddress,
    admit: guard === undefined ? undefined : admission(guard),
    access: guard === undefined ? undefined : route.access,
    offload: offload && {
      work: offload.work,
      // The thread prepares an answer that is like all others.
      unlessAccepts: quotes ? QUOTES_MARK : undefined,
      finish: (message, request) => offload.finish(message, services).catch(failedIn(request)),
    },
    handle(http, bytes) {
      if (!quotes || !asksForQuotes(http.header('accept'))) return answer(http, bytes, false);
      const reply = answer(http, bytes, true);
      return reply instanceof Promise ? reply.then(quotedReply) : quotedReply(reply);
    },
  };
}

/** Throws ApiError where the answer is longer than the route may give. */
function bounded(result: unknown, bytesMax: number): HttpReply {
  const reply = result instanceof Answer ? result : new Answer(200, JSON_TYPE, print(result));
  const { body } = reply;
  // No character has more than three bytes.
  if (body.length * 3 <= bytesMax) return reply;
  const bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  if (bytes <= bytesMax) return reply;
  reply.sent?.();
  throw apiError('AnswerTooBig', `it has ${bytes} bytes, at most ${bytesMax} are given`);
}

/** What the HTTP port asks before it reads a body. */
export function admission(guard: Guard): (request: HttpRequest) => HttpReply | undefined {
  return (request) => {
    const error = guard(request);
    return error === undefined ? undefined : refused(error);
  };
}

function readBody(body: NonNullable<AnyRoute['body']>, bytes: Uint8Array | undefined): unknown {
  if (bytes === undefined || bytes.length === 0) {
    if (body.optional === true) return undefined;
    if (body.type === 'application/json') throw malformed([]);
    return body.parse(NO_BYTES);
  }
  return body.parse(bytes);
}

const NO_BYTES = new Uint8Array(0);

/**
 * One line for each bad number; where the route declares a single number, the text is singular
 * (rest.md#parameters). Numbers of a query count where there is one.
 */
function badNumbers(problems: readonly string[], declared: number): ApiError {
  return declared === 1
    ? apiError('Invalid', `Invalid parameter: ${problems[0]}`)
    : apiError('Invalid', `Invalid parameters: [${problems.join(', ')}]`);
}

/** The parameters of a request; throws ApiError. */
type Reader = (
  http: HttpRequest,
  scheme: ChainScheme,
) => { readonly params: Record<string, unknown>; readonly query: Record<string, unknown> };

type Declared = Pick<AnyRoute, 'params' | 'query' | 'check'>;

/** Reports the first problem, except that it lists all bad numbers. */
function plainReader(route: Declared, path: string): Reader {
  const inPath = pathParser(route.params ?? {}, path);
  const inQuery = queryParser(route.query ?? {});
  const numbers = inPath.numbers + inQuery.numbers;
  return (http, scheme) => {
    const problems: string[] | undefined = numbers > 0 ? [] : undefined;
    const params = inPath.read(http, scheme, problems);
    const query = inQuery.read(http, scheme, problems);
    if (problems === undefined || problems.length === 0) return { params, query };
    throw badNumbers(problems, http.query === '' ? inPath.numbers : numbers);
  };
}

function strictReader(route: Declared, path: string): Reader {
  const { params: inPath = {}, query: inQuery = {}, check } = route;
  const places = pathNames(path);
  return (http, scheme) => {
    const problems: Found = new Map();
    const given = places.map((name, place) => [name, http.param(place)] as const);
    const params = readEach(inPath, given, scheme, problems);
    const search = new URLSearchParams(http.query);
    const query = readStrictly({ params: inQuery, check }, search, scheme, problems);
    return { params, query };
  };
}

interface Parser {
  /** How many of its parameters are numbers. */
  readonly numbers: number;
  read(
    http: HttpRequest,
    scheme: ChainScheme,
    problems: string[] | undefined,
  ): Record<string, unknown>;
}

const EMPTY = {};
const NOTHING: Parser = { numbers: 0, read: () => EMPTY };

const countNumbers = (params: Params): number =>
  Object.values(params).filter((param) => param.schema['type'] === 'integer').length;

function readOne(
  param: Param<unknown>,
  text: string,
  scheme: ChainScheme,
  problems: string[] | undefined,
): unknown {
  try {
    return param.parse(text, scheme);
  } catch (error) {
    if (!(error instanceof BadNumber) || problems === undefined) throw error;
    problems.push(error.message);
    return undefined;
  }
}

function pathParser(params: Params, path: string): Parser {
  const names = Object.keys(params);
  if (names.length === 0) return NOTHING;
  const places = pathNames(path);
  const slots = names.map((name) => ({ name, param: params[name]!, place: places.indexOf(name) }));
  return {
    numbers: countNumbers(params),
    read(http, scheme, problems) {
      const out: Record<string, unknown> = {};
      for (const { name, param, place } of slots) {
        out[name] = readOne(param, place < 0 ? '' : http.param(place), scheme, problems);
      }
      return out;
    },
  };
}

function queryParser(params: Params): Parser {
  const slots = Object.entries(params);
  if (slots.length === 0) return NOTHING;
  return {
    numbers: countNumbers(params),
    read(http, scheme, problems) {
      const given = http.query === '' ? undefined : new URLSearchParams(http.query);
      const out: Record<string, unknown> = {};
      for (const [name, param] of slots) {
        const text = given?.get(name) ?? undefined;
        if (text !== undefined) out[name] = readOne(param, text, scheme, problems);
        else if (param.optional === true) out[name] = param.otherwise;
        else throw apiError('Invalid', `Parameter '${name}' is missing`);
      }
      return out;
    },
  };
}
