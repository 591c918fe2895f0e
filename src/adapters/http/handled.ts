/**
 * The function of a route. It should never throw; where it does, the client gets an answer all the
 * same.
 */
import { apiError } from '../../base/errors.ts';
import type { HttpReply, HttpRequest, HttpRoute } from '../../base/http.ts';
import { errorReply } from './reply.ts';

/** Also the answer where the promise of a route rejects. */
export const FAILED = errorReply(apiError('Unknown'));

export function handled(
  route: HttpRoute,
  request: HttpRequest,
  body: Uint8Array | undefined,
): HttpReply | Promise<HttpReply> {
  try {
    return route.handle(request, body);
  } catch {
    return FAILED;
  }
}
