/**
 * The node's own public answers under `/node-api`, so that the explorer of this service can show
 * what only the node knows: its pool, its peers, whose turn it is. Only declared routes that read
 * are passed on.
 */

import { refusal } from '../../api/answer.ts';
import type { AnyRoute } from '../../api/route.ts';
import { pathPattern } from '../../api/route.ts';
import { budgetOf } from '../../api/route-budget.ts';
import { apiError } from '../../base/errors.ts';
import type { HttpClient, HttpReply, HttpRoute } from '../../base/http.ts';
import type { Log } from '../../base/ports.ts';
import type { AccessGuard } from './data-api.ts';

export const NODE_PREFIX = '/node-api';

/** Questions that have a body. */
const READING_POSTS = ['/permissions/addresses'];

export interface Forwarding {
  readonly http: HttpClient;
  /** Without a slash at its end. */
  readonly nodeUrl: string;
  readonly log: Log;
  readonly guard: AccessGuard;
}

export const forwarded = (routes: readonly AnyRoute[], of: Forwarding): HttpRoute[] =>
  routes
    .filter(({ method, path, access }) => {
      const isReading = method === 'GET' || READING_POSTS.includes(path);
      return isReading && access === 'public';
    })
    .map((route) => forward(route, of));

const JSON_BODY = { 'content-type': 'application/json' };

function forward(route: AnyRoute, { http, nodeUrl, log, guard }: Forwarding): HttpRoute {
  const pattern = NODE_PREFIX + pathPattern(route.path);
  return {
    method: route.method,
    pattern,
    maxBody: budgetOf(route).bytesIn,
    mayWait: true,
    keep: [],
    admit: guard,
    async handle({ path, query }, body): Promise<HttpReply> {
      // The server reuses its bytes once this call returns.
      const posted = body === undefined ? {} : { body: body.slice(), headers: JSON_BODY };
      const target = nodeUrl + path.slice(NODE_PREFIX.length) + (query === '' ? '' : `?${query}`);
      try {
        const { status, header, text } = await http.request({
          method: route.method,
          url: target,
          ...posted,
        });
        return { status, type: header('content-type') ?? 'application/json', body: text };
      } catch {
        const error = apiError('DataUnavailable', 'The node does not answer');
        return refusal(error, log, `${route.method} ${pattern}`);
      }
    },
  };
}
