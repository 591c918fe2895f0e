/** Writes answers. */
import { type ApiError, apiError } from '../../base/errors.ts';
import { stringify } from '../../base/json/json.ts';
import type { HttpReply, HttpStream } from '../../base/ports/http.ts';
import type { Response } from './app.ts';
import type { HttpHeaders } from './cors.ts';
import { STATUS_CODES } from './node-own.ts';

const OK = 200;

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

/** The answer where a route fails. */
export const FAILED = errorReply(apiError('Unknown'));

export const TWO_LENGTHS = errorReply(
  apiError('Invalid', 'Content-Length is given twice, with different values'),
);

/** Sends `body`, however long the client takes. */
export interface Sender {
  end(response: Response, body: string | Uint8Array, sent: (() => void) | undefined): void;
}

/** Who gets an answer, and how. */
export interface Client {
  readonly response: Response;
  /** Of the request. */
  readonly id: string;
  /** Headers of every answer to the origin of the request. */
  readonly shared: HttpHeaders;
  /** The request asks for the head of the answer alone. */
  readonly isHead: boolean;
  /** The request is the last one on its connection (RequestHead). */
  readonly isLast: boolean;
}

export function send(client: Client, given: HttpReply, sender: Sender, close: boolean): void {
  const { response, isHead } = client;
  const reply = withSafeHead(given);
  writeHead(client, reply);
  if (isHead) sendHead(response, reply, close);
  else if (reply.stream !== undefined) sendStream(response, reply.body, reply.stream);
  else if (!close) sender.end(response, reply.body, reply.sent);
  else {
    response.end(reply.body as string, true);
    reply.sent?.();
  }
}

/** An answer that goes on has no length. One that ends the connection says that it is empty. */
function sendHead(response: Response, reply: HttpReply, close: boolean): void {
  const { body, stream } = reply;
  if (close) {
    // The native server ends the connection of an answer only where that has a length, and waits
    // for as many bytes.
    response.endWithoutBody(0, true);
  } else {
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    if (stream === undefined) response.writeHeader('Content-Length', String(length));
    response.endWithoutBody();
  }
  discard(reply);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these end a header or a head
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

/** A value may come from another node; a line end in it would begin a header, or the body. */
function withSafeHead(reply: HttpReply): HttpReply {
  const { type, headers = [] } = reply;
  const isSafe = (text: string): boolean => !CONTROL.test(text);
  if (isSafe(type) && headers.every(([name, value]) => isSafe(name) && isSafe(value))) return reply;
  discard(reply);
  return FAILED;
}

function writeHead({ response, id, shared, isLast }: Client, reply: HttpReply): void {
  if (reply.status !== OK) {
    response.writeStatus(statusLines.get(reply.status) ?? String(reply.status));
  }
  if (reply.type !== '') response.writeHeader('content-type', reply.type);
  // No browser takes an answer for another type than the one it names.
  response.writeHeader('x-content-type-options', 'nosniff');
  response.writeHeader('x-request-id', id);
  for (const [name, value] of shared) response.writeHeader(name, value);
  const { headers } = reply;
  if (headers !== undefined && headers.length > 0) {
    for (const [name, value] of headers) response.writeHeader(name, value);
  }
  // Clients with a pool (node-fetch on Node 19 and above) send a request on this connection
  // otherwise, although they have asked for its end.
  if (isLast) response.writeHeader('Connection', 'close');
}

/** The connection is gone before its answer. */
export function discard(reply: HttpReply): void {
  reply.sent?.();
  reply.stream?.closed();
}

/** Does nothing where the connection is gone by then. */
export function unlessAborted(response: Response, work: () => void): () => void {
  let aborted = false;
  response.onAborted(() => {
    aborted = true;
  });
  return () => {
    if (!aborted) work();
  };
}

/**
 * Sends an answer that goes on, to a client that may stop taking it. Status and headers are written
 * already, in the cork of this call.
 */
function sendStream(response: Response, first: string | Uint8Array, stream: HttpStream): void {
  let isOpen = true;
  let isWaiting = false;
  const send = (text: string | Uint8Array): void => {
    response.cork(() => {
      isWaiting = !response.write(text as string);
    });
  };
  send(first);
  response.onAborted(() => {
    if (!isOpen) return;
    isOpen = false;
    stream.closed();
  });
  response.onWritable(() => {
    if (!isOpen || !isWaiting) return true;
    // The native server sends what waits only together with something new.
    send(stream.filler);
    if (!isWaiting) stream.ready();
    return true;
  });
  stream.begin({
    write(text) {
      if (!isOpen) return false;
      send(text);
      return !isWaiting;
    },
    end(text) {
      if (!isOpen) return;
      isOpen = false;
      response.cork(() => void response.end(text));
    },
  });
}
