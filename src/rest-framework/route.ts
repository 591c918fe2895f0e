/**
 * How an endpoint is declared. One declaration gives the server its parsing and checks, the client
 * its types, and OpenAPI its text.
 *
 * Invariant: a request reaches the handler only after the checks of access, parameters and body, in
 * this order.
 */

import { assert } from '../base/assert.ts';
import type { Budget } from '../base/limits/budget.ts';
import type { HttpRequest } from '../base/ports/http.ts';
import type { JsonSchema } from '../codec/codec.ts';
import type { Answer } from './answer.ts';
import type { StreamedAnswer } from './json-chunks.ts';
import type { LongBody } from './long-bodies.ts';
import type { Params, ParamValues } from './params.ts';
import type { Static, TSchema } from './type.ts';

/** How the bytes of a request body become a value. `parse` throws ApiError or CodecError. */
export interface Body<T> {
  readonly type: 'application/json' | 'text/plain';
  readonly schema: JsonSchema;
  /** True if the body may be missing; `parse` is then not called. */
  readonly optional?: boolean;
  parse(bytes: Uint8Array): T | LongBody<T>;
}

/** Name of a parameter → what is wrong with it. */
export type Problems = Readonly<Record<string, string>>;

export interface RouteRequest<P, Q, B> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly http: HttpRequest;
}

type Value<R extends TSchema, S> = Static<R> | Answer | StreamedAnswer<S>;

/** `S` is what the handlers of a program get, `A` its levels of access. */
export interface RouteDef<
  P extends Params,
  Q extends Params,
  B,
  R extends TSchema,
  S,
  A extends string = string,
> {
  readonly method: 'GET' | 'POST';
  /** `/addresses/balance/{address}`. */
  readonly path: string;
  /** Other paths with the same meaning. A parameter that such a path lacks is parsed from ''. */
  readonly also?: readonly string[];
  readonly access: A;
  readonly doc: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: Body<B>;
  /** Problems between query parameters, by name; asked where the server reports all at once. */
  check?(query: ParamValues<Q>): Problems;
  readonly reply: R;
  /** The answer with status 503, where it differs from an ordinary refusal. */
  readonly unavailable?: TSchema;
  /** Content type of the 200 answer where it is not JSON. */
  readonly replyType?: string;
  /** True where clients may get the same as bare text instead. */
  readonly alsoText?: boolean;
  /** The parts of the budget that differ from an ordinary route's (`budgetOf`). */
  readonly cost?: Partial<Budget>;
  /** Lower-case names of the headers that `handle` reads. */
  readonly keep?: readonly string[];
  /** `handle` asks for the address of the client. */
  readonly keepsAddress?: boolean;
  handle(
    request: RouteRequest<ParamValues<P>, ParamValues<Q>, B>,
    services: S,
  ): Value<R, S> | Promise<Value<R, S>>;
  /** The rest of `handle` where a thread of the server has done a part (`Offload` in base/ports/http.ts). */
  readonly offload?: RouteOffload<S>;
}

export interface RouteOffload<S> {
  /** The name of the part: a module of cli/workers/http-threads.ts and cli/workers/http-worker.ts. */
  readonly work: string;
  /** Undefined: the answer that the thread has prepared is the right one. */
  finish(message: Uint8Array, services: S): Promise<Answer | undefined>;
}

/** A declared endpoint with its types. */
export type Route<
  P extends Params = Params,
  Q extends Params = Params,
  B = unknown,
  R extends TSchema = TSchema,
  S = never,
> = RouteDef<P, Q, B, R, S> & {
  /** Where the description shows it. */
  readonly group: string;
};

/** A route without its own types, for lists of routes. */
export type AnyRoute<S = never> = Omit<
  Route<Params, Params, unknown, TSchema, S>,
  'handle' | 'check'
> & {
  handle(request: RouteRequest<never, never, never>, services: S): unknown;
  check?(query: never): Problems;
};

// biome-ignore lint/complexity/noBannedTypes: the type of a request without parameters
type Nothing = {};

/** The function that declares the routes of one group of a program, whose groups are `G`. */
export const routeIn =
  <S, A extends string, G extends string>() =>
  (group: G) =>
  <
    R extends TSchema,
    const P extends Params = Nothing,
    const Q extends Params = Nothing,
    B = undefined,
  >(
    def: RouteDef<P, Q, B, R, S, A>,
  ): Route<P, Q, B, R, S> => {
    const names = pathNames(def.path);
    const declared = Object.keys(def.params ?? {});
    assert(
      names.length === declared.length && names.every((name) => declared.includes(name)),
      `${def.path}: path and params differ`,
    );
    return { ...def, group };
  };

/** Names of the parameters in a path, in order. */
export function pathNames(path: string): string[] {
  return Array.from(path.matchAll(/\{([^}]+)\}/g), (match) => match[1]!);
}

/** `/a/{b}` as the server's pattern `/a/:b`. */
export const pathPattern = (path: string): string => path.replace(/\{([^}]+)\}/g, ':$1');
