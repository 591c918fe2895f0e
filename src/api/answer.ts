/**
 * What a handler may return besides the value of its reply schema: another status, a text, or JSON
 * that is already printed. A plain value is printed by the server with status 200.
 */
import { ApiError } from '../base/errors.ts';
import type { HttpReply } from '../base/http.ts';
import { stringify } from '../base/json.ts';
import type { Log } from '../base/ports.ts';
import { CodecError } from '../codec/codec.ts';
import { refusalOf } from '../codec/refusal.ts';

export const JSON_TYPE = 'application/json';

/** A finished answer. */
export class Answer implements HttpReply {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers: readonly (readonly [string, string])[];

  constructor(
    status: number,
    type: string,
    body: string | Uint8Array,
    headers: readonly (readonly [string, string])[] = NONE,
  ) {
    this.status = status;
    this.type = type;
    this.body = body;
    this.headers = headers;
  }
}

const NONE: readonly (readonly [string, string])[] = [];

/**
 * JSON text of a value. Codecs print their own 64-bit integers, so the replacer that looks at each
 * value, three times as slow, runs only where a bare bigint is met.
 */
export function print(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return stringify(value);
  }
}

/** Status 200 with JSON printed by the caller: hot paths keep such texts in caches. */
export const printed = (json: string): Answer => new Answer(200, JSON_TYPE, json);

/** JSON with a status of its own. */
export const answer = (status: number, value: unknown): Answer =>
  new Answer(status, JSON_TYPE, print(value));

/** The bodies without a code that clients know: `{"status":"error","details":"…"}` (§2.1). */
export const details = (status: number, text: string): Answer =>
  answer(status, { status: 'error', details: text });

/** Turns whatever a handler threw into an answer; only the log learns of the unexpected. */
export function refusal(error: unknown, log: Log, where: string): Answer {
  const known = toApiError(error);
  if (known !== undefined) return answer(known.status, known.body);
  log.error('http.failed', { where, error: error instanceof Error ? error.stack : String(error) });
  return answer(500, { error: 0, message: 'Error is unknown' });
}

function toApiError(error: unknown): ApiError | undefined {
  if (error instanceof CodecError) {
    return refusalOf(error);
  }
  if (!(error instanceof ApiError)) return undefined;
  // Code 1 always carries both fields, whoever threw it.
  if (error.code === 1 && !('validationErrors' in error.extra)) {
    return error.with({ cause: null, validationErrors: {} });
  }
  return error;
}
