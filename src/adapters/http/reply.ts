/** Writes answers, and the headers that browsers of other origins need (rest.md#cors). */

import type uws from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import type { ApiError } from '../../base/errors.ts';
import type { HttpReply } from '../../base/http.ts';
import { stringify } from '../../base/json.ts';

type Handler = Parameters<ReturnType<typeof uws.App>['get']>[1];
type Response = Parameters<Handler>[0];

export type Cors = boolean;

const OK = 200;
const ALLOWED_HEADERS =
  'Authorization, Content-Type, X-Requested-With, Timestamp, X-API-Key, Signature, Accept, api_key';
const ALLOWED_METHODS = 'OPTIONS, POST, PUT, GET, DELETE';

const statusLines = new Map(
  Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text}`]),
);

/** An error of the catalogue, printed once. */
export function errorReply(
  error: ApiError,
  headers: readonly (readonly [string, string])[] = [],
): HttpReply {
  return {
    status: error.status,
    type: 'application/json',
    body: stringify(error.body),
    headers,
  };
}

/** Sends `body`, however long the client takes. */
export interface Sender {
  end(response: Response, body: string | Uint8Array, sent: (() => void) | undefined): void;
}

/** `origin` undefined: CORS rules do not apply to the request; '': the request has no origin. */
export function send(
  response: Response,
  reply: HttpReply,
  sender: Sender,
  origin: string | undefined,
  close: boolean,
  withoutBody = false,
): void {
  if (reply.status !== OK) {
    response.writeStatus(statusLines.get(reply.status) ?? String(reply.status));
  }
  if (reply.type !== '') response.writeHeader('content-type', reply.type);
  if (origin !== undefined) allowOrigin(response, origin);
  const { headers } = reply;
  if (headers !== undefined && headers.length > 0) {
    for (const [name, value] of headers) response.writeHeader(name, value);
  }
  if (withoutBody) response.endWithoutBody(0, true);
  else if (!close) sender.end(response, reply.body, reply.sent);
  else {
    response.end(reply.body as string, true);
    reply.sent?.();
  }
}

/** A browser that sends credentials refuses `*`, so a given origin is echoed. */
function allowOrigin(response: Response, origin: string): void {
  if (origin === '') {
    response.writeHeader('access-control-allow-origin', '*');
    return;
  }
  response.writeHeader('access-control-allow-origin', origin);
  response.writeHeader('access-control-allow-credentials', 'true');
  response.writeHeader('vary', 'Origin');
}

export function preflight(origin: string): HttpReply {
  const named: readonly (readonly [string, string])[] = origin === '' ? [] : [['vary', 'Origin']];
  return {
    status: OK,
    type: '',
    body: '',
    headers: [
      ['access-control-allow-origin', origin === '' ? '*' : origin],
      ...named,
      ['access-control-allow-credentials', 'true'],
      ['access-control-allow-headers', ALLOWED_HEADERS],
      ['access-control-allow-methods', ALLOWED_METHODS],
    ],
  };
}
