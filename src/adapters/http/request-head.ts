/**
 * What the server itself reads of the head of each request, in one pass over its headers, since each
 * question for one of them calls native code.
 */
import { randomUUID } from 'node:crypto';
import type { Request } from './app.ts';

export interface RequestHead {
  /**
   * Where the client is part of a trace it is the id of that trace, so that one word finds the lines
   * of all programs that took part. What is no trace is not used.
   */
  readonly id: string;
  /** '' where it names none. */
  readonly origin: string;
  /**
   * Content-Length is given twice, with different values. A server in front of this one may take the
   * other one, and what is body to the one is then a request to the other. The parser takes an empty
   * length for none, so every request is looked through.
   */
  readonly hasTwoLengths: boolean;
  /** The client wants no further answer on this connection, so one of both ends it after this one. */
  readonly isLast: boolean;
}

/** One option of several: clients such as libwww-perl send `TE, close`. */
const CLOSE = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;

const TRACE_CHARS = 55;
/** Version, trace, parent and flags (W3C Trace Context). */
const TRACE = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

export function headOf(request: Request): RequestHead {
  length = undefined;
  hasTwoLengths = false;
  origin = undefined;
  trace = undefined;
  isLast = false;
  request.forEach(note);
  return { id: traceIn(trace) ?? nextId(), origin: origin ?? '', hasTwoLengths, isLast };
}

// Of the request that is looked through: a function that closes over them would be made each time.
let length: string | undefined;
let hasTwoLengths = false;
let origin: string | undefined;
let trace: string | undefined;
let isLast = false;

/** The first header of a name counts. */
function note(name: string, value: string): void {
  if (name === 'origin') origin ??= value;
  else if (name === 'traceparent') trace ??= value;
  else if (name === 'connection') isLast ||= CLOSE.test(value);
  else if (name === 'content-length') {
    if (length !== undefined && value !== length) hasTwoLengths = true;
    length ??= value;
  }
}

const traceIn = (parent: string | undefined): string | undefined =>
  parent?.length === TRACE_CHARS ? TRACE.exec(parent)?.[1] : undefined;

/** Two digits for each byte. */
const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
let ids = 0;
/** All but the last two digits. */
let prefix = '';

/** A UUID, random but for its last byte: one for each request costs 2 µs, more than its headers. */
function nextId(): string {
  if (ids % BYTES.length === 0) prefix = randomUUID().slice(0, -2);
  return prefix + BYTES[ids++ % BYTES.length];
}
