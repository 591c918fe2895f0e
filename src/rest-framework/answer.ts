/**
 * What a handler may return besides the value of its reply schema: another status, a text, or JSON
 * that is already printed. The server prints a plain value with status 200.
 */
import { isOurs } from '../base/assert.ts';
import { ApiError, apiError } from '../base/errors.ts';
import { isOwnFault } from '../base/faults/own-fault.ts';
import { StoreCorruptError } from '../base/faults/store-damage.ts';
import { stringify } from '../base/json/json.ts';
import type { HttpReply, HttpStream } from '../base/ports/http.ts';
import type { Log } from '../base/ports/log.ts';
import { CodecError } from '../codec/codec.ts';
import { refusalOf } from '../codec/refusal.ts';

export const JSON_TYPE = 'application/json';

/** A complete answer. */
export class Answer implements HttpReply {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers: readonly (readonly [string, string])[];
  readonly sent: (() => void) | undefined;
  readonly stream: HttpStream | undefined;

  constructor(
    status: number,
    type: string,
    body: string | Uint8Array,
    headers: readonly (readonly [string, string])[] = NONE,
    sent?: () => void,
    stream?: HttpStream,
  ) {
    this.status = status;
    this.type = type;
    this.body = body;
    this.headers = headers;
    this.sent = sent;
    this.stream = stream;
  }
}

const NONE: readonly (readonly [string, string])[] = [];

/**
 * The JSON text of a value. Codecs print their own 64-bit integers. The replacer that checks every
 * value is three times as slow, so it runs only where a bare bigint is found.
 */
export function print(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return stringify(value);
  }
}

/**
 * Status 200 with JSON that the caller has printed; frequent requests keep such texts in caches.
 */
export const printed = (json: string): Answer => new Answer(200, JSON_TYPE, json);

/** JSON with another status. */
export const answer = (status: number, value: unknown): Answer =>
  new Answer(status, JSON_TYPE, print(value));

export const EVENT_STREAM_TYPE = 'text/event-stream';

const EVENT_STREAM_HEADERS = [
  ['cache-control', 'no-store'],
  // A proxy that collects answers would hold events back.
  ['x-accel-buffering', 'no'],
] as const;

/** Server-sent events: the first ones, and the stream of those that follow. */
export const eventStream = (first: string | Uint8Array, stream: HttpStream): Answer =>
  new Answer(200, EVENT_STREAM_TYPE, first, EVENT_STREAM_HEADERS, undefined, stream);

/**
 * What was asked for is not there. Its body has no code, as clients know it (rest.md#errors):
 * `{"status":"error","details":"…"}`.
 */
export const notFound = (text: string): Answer => answer(404, { status: 'error', details: text });

/** States that may pass: the client may try again after this many seconds. */
const PASSING = [429, 503];
const RETRY = [['retry-after', '1']] as const;

export function refused(error: ApiError): Answer {
  const headers = PASSING.includes(error.status) ? RETRY : NONE;
  return new Answer(error.status, JSON_TYPE, print(error.body), headers);
}

/** What the log says of a request that failed. */
export interface RequestPlace {
  /** Method and path of the route. */
  readonly where: string;
  /** `HttpRequest.id` */
  readonly request: string;
}

/**
 * Turns the error that a handler threw into an answer. An unexpected error is written to the log
 * only; one of this machine, such as its disk, is answered with 503.
 */
export function refusal(error: unknown, log: Log, at: RequestPlace): Answer {
  const known = toApiError(error);
  if (known !== undefined) return refused(known);
  // The client gets its answer, and the node stops.
  if (isOurs(error)) void Promise.reject(error);
  const why = error instanceof Error ? error.stack : String(error);
  log.error('http.failed', { ...at, error: why });
  if (isOwnFault(error) && !isOurs(error)) return refused(apiError('StatusCheckFailed', OF_NODE));
  return answer(500, { error: 0, message: 'Error is unknown' });
}

const OF_NODE = 'the node cannot do its part at present';

/** The answer to a request that breaks a rule; undefined where the error is no such refusal. */
export function refusalOfRule(error: unknown): Answer | undefined {
  const known = toApiError(error);
  return known && refused(known);
}

function toApiError(error: unknown): ApiError | undefined {
  if (error instanceof CodecError) {
    return refusalOf(error);
  }
  if (error instanceof StoreCorruptError) return apiError('StoreDamaged');
  if (!(error instanceof ApiError)) return undefined;
  // This refusal always has both fields, whichever part of the node made it.
  if (error.entry === 'MalformedJson' && !('validationErrors' in error.extra)) {
    return error.with({ cause: null, validationErrors: {} });
  }
  return error;
}
