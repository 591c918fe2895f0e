/**
 * The function of a route. It should never throw; where it does, the client gets an answer all the
 * same.
 */
import type { HttpReply, HttpRequest, HttpRoute } from '../../base/ports/http.ts';
import { FAILED } from './reply.ts';

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
