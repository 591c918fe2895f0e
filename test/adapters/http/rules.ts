// The rules of access in the tests of the server, which a thread applies itself, by name.
import type { HttpReply, HttpRequest } from '../../../src/base/ports/http.ts';

const text = (status: number, body: string): HttpReply => ({ status, type: 'text/plain', body });

export const rules: Readonly<Record<string, (request: HttpRequest) => HttpReply | undefined>> = {
  pass: (request) => (request.header('pass') === 'yes' ? undefined : text(403, 'no')),
  /** Tells what only a rule may know. */
  who: (request) =>
    text(200, JSON.stringify([request.remoteAddress(), request.hasHeader('x-forwarded-')])),
};
