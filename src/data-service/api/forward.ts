/**
 * The node's own public answers under `/node-api`, so that the explorer of this service can show
 * what only the node knows: its pool, its peers, whose turn it is.
 *
 * Only declared routes that read are passed on, and only JSON comes back: a node is not trusted with
 * pages and headers of this origin, nor a client with paths of the node.
 */

import { JSON_TYPE, refused } from '../../api/answer.ts';
import { type AnyRoute, pathNames, pathPattern } from '../../api/route.ts';
import { budgetOf } from '../../api/route-budget.ts';
import { apiError } from '../../base/errors.ts';
import type { HttpClient, HttpReply, HttpRequest, HttpRoute } from '../../base/http.ts';
import type { AccessGuard } from './data-api.ts';

export const NODE_PREFIX = '/node-api';

/** Questions that have a body. */
const READING_POSTS = ['/permissions/addresses'];

export interface Forwarding {
  readonly http: HttpClient;
  /** Without a slash at its end. */
  readonly nodeUrl: string;
  readonly guard: AccessGuard;
}

export const forwarded = (routes: readonly AnyRoute[], of: Forwarding): HttpRoute[] =>
  routes
    .filter(({ method, path, access, replyType = JSON_TYPE }) => {
      const isReading = method === 'GET' || READING_POSTS.includes(path);
      return isReading && access === 'public' && replyType === JSON_TYPE;
    })
    .map((route) => forward(route, of));

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

function forward(route: AnyRoute, { http, nodeUrl, guard }: Forwarding): HttpRoute {
  const pattern = NODE_PREFIX + pathPattern(route.path);
  return {
    method: route.method,
    pattern,
    maxBody: budgetOf(route).bytesIn,
    mayWait: true,
    keep: [],
    admit: guard,
    async handle(request, body): Promise<HttpReply> {
      const { query } = request;
      const path = pathOf(route.path, request);
      if (path === undefined) return refused(apiError('NotFound'));
      // The server reuses its bytes once this call returns.
      const posted = body === undefined ? {} : { body: body.slice(), headers: JSON_BODY };
      const target = nodeUrl + path + (query === '' ? '' : `?${query}`);
      try {
        const { status, header, text } = await http.request({
          method: route.method,
          url: target,
          ...posted,
        });
        if (IS_JSON.test(header('content-type') ?? '')) {
          return { status, type: JSON_TYPE, body: text };
        }
        return refused(apiError('DataUnavailable', 'The node gave an answer that is no JSON'));
      } catch {
        return refused(apiError('DataUnavailable', 'The node does not answer'));
      }
    },
  };
}
