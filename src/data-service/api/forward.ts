/**
 * The node's own public answers under `/node-api`, so that the explorer of this service can show
 * what only the node knows: its pool, its peers, whose turn it is.
 *
 * Only declared routes that read are passed on, and only JSON comes back: a node is not trusted with
 * pages and headers of this origin, nor a client with paths of the node. A node that hangs costs a few
 * requests, which wait in places of their own.
 */

import { withTimeout } from '../../base/deadline.ts';
import { ApiError, apiError } from '../../base/errors.ts';
import { clientOf } from '../../base/ip-range.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { HttpClient, HttpReply, HttpRequest, HttpRoute } from '../../base/ports/http.ts';
import { JSON_TYPE, refused } from '../../rest-framework/answer.ts';
import type { Guard } from '../../rest-framework/auth.ts';
import { type AnyRoute, pathNames, pathPattern } from '../../rest-framework/route.ts';
import { budgetOf } from '../../rest-framework/route-budget.ts';
import { admission } from '../../rest-framework/server.ts';
import type { Clients } from './access.ts';
import { createHeavyQueries, type HeavyQueries } from './heavy-queries.ts';

const NODE_PREFIX = '/node-api';

/** Questions that have a body. */
const READING_POSTS = ['/permissions/addresses'];

/** Requests to the node at a time, and those that wait: together few of what the server takes. */
export const NODE_PLACES = 16;
const WAITING = { waitingMax: 48, waitingOfClientMax: 8 };
const ANSWER_MS_MAX = 5000;

export interface Forwarding {
  /** Has NODE_PLACES connections or more, and nothing else uses them. */
  readonly http: HttpClient;
  readonly clock: Clock;
  /** Set by the guard. */
  readonly clients: Clients;
  /** A later answer of the node is none; default 5 s. */
  readonly answerMsMax?: number | undefined;
  /** Without a slash at its end. */
  readonly nodeUrl: string;
  readonly guard: Guard;
}

export function forwarded(routes: readonly AnyRoute[], of: Forwarding): HttpRoute[] {
  const places = createHeavyQueries(NODE_PLACES, WAITING);
  return routes
    .filter(({ method, path, access, replyType = JSON_TYPE }) => {
      const isReading = method === 'GET' || READING_POSTS.includes(path);
      return isReading && access === 'public' && replyType === JSON_TYPE;
    })
    .map((route) => forward(route, of, places));
}

const JSON_BODY = { 'content-type': JSON_TYPE };
const IS_JSON = /^application\/json *(;|$)/i;

/**
 * The path of the node that the route declares, with the values of the request. Undefined for a
 * value that would lead to another path: a URL has no form of these two.
 */
function pathOf(template: string, request: HttpRequest): string | undefined {
  const values = pathNames(template).map((_, place) => request.param(place));
  if (values.some((value) => value === '.' || value === '..')) return undefined;
  let place = 0;
  return template.replace(/\{[^}]+\}/g, () => encodeURIComponent(values[place++] ?? ''));
}

function forward(
  route: AnyRoute,
  { http, clock, clients, nodeUrl, guard, answerMsMax = ANSWER_MS_MAX }: Forwarding,
  places: HeavyQueries,
): HttpRoute {
  const pattern = NODE_PREFIX + pathPattern(route.path);
  return {
    method: route.method,
    pattern,
    maxBody: budgetOf(route).bytesIn,
    mayWait: true,
    keep: [],
    admit: admission(guard),
    async handle(request, body): Promise<HttpReply> {
      const { query, gone } = request;
      const client = clients.get(request) ?? clientOf(request.remoteAddress());
      const path = pathOf(route.path, request);
      if (path === undefined) return refused(apiError('NotFound'));
      // The server reuses its bytes once this call returns.
      const posted = body === undefined ? {} : { body: body.slice(), headers: JSON_BODY };
      const target = nodeUrl + path + (query === '' ? '' : `?${query}`);
      try {
        const { status, header, text } = await places.run(client, gone, () =>
          withTimeout(clock, answerMsMax, gone, (signal) =>
            http.request({ method: route.method, url: target, signal, ...posted }),
          ),
        );
        if (IS_JSON.test(header('content-type') ?? '')) {
          return { status, type: JSON_TYPE, body: text };
        }
        return refused(apiError('DataUnavailable', 'The node gave an answer that is no JSON'));
      } catch (cause) {
        if (cause instanceof ApiError) return refused(cause);
        return refused(apiError('DataUnavailable', 'The node does not answer'));
      }
    },
  };
}
