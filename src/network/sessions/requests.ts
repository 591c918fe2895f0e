/**
 * Requests, one after the other on streams that are kept, since the negotiation of a stream costs
 * more than a request:
 *
 *   →  u4 number | the request
 *   ←  u4 number | u1 0 | the answer, or
 *      u4 number | u1 1 | the reason of a refusal
 *
 * Numbers ascend on a stream, and an answer names its request: none can be taken for the answer to
 * another.
 */
import { isOurs } from '../../base/assert.ts';
import { fromUtf8, utf8 } from '../../base/bytes.ts';
import { pause, TooLate, within } from '../../base/deadline.ts';
import { Misconduct } from '../../base/faults/misconduct.ts';
import { isOwnFault } from '../../base/faults/own-fault.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { PeerConnection, PeerStream } from '../../base/ports/network.ts';
import { CodecError } from '../../codec/codec.ts';
import type { Semaphore } from '../../concurrency/semaphore.ts';
import type { Pace } from './pace.ts';

const ANSWERED = 0;
const REFUSED = 1;
const NUMBER_BYTES = 4;
/** The bytes before a request, and before an answer. */
export const REQUEST_HEAD_BYTES = NUMBER_BYTES;
const ANSWER_HEAD_BYTES = NUMBER_BYTES + 1;
const REASON_CHARS_MAX = 300;
/** The time for the answer to be taken. */
const SEND_MS_MAX = 60_000;
/** The asking side closes an unused stream well before the answering side does. */
const KEPT_MS_MAX = 30_000;
const IDLE_MS_MAX = 90_000;

/**
 * Neither an answer nor any other message arrived since the request: the connection may be dead, so
 * this is no offence. A peer that only withholds the answer still sends other messages.
 */
export class SilentLine extends Error {
  override name = 'SilentLine';
}

/** The other side has refused a request and given this reason. */
export class RequestRefused extends Misconduct {
  override name = 'RequestRefused';
}

/** The other side gave no whole answer: it was late, broke the stream, or sent something else. */
export class NoAnswer extends Misconduct {
  override name = 'NoAnswer';
}

/** Holds a stream for `action`, and aborts it when that fails or takes too long. */
export function converse<T>(
  open: (signal: AbortSignal) => Promise<PeerStream>,
  protocol: string,
  clock: Clock,
  timeoutMs: number,
  action: (stream: PeerStream) => Promise<T>,
): Promise<T> {
  return within(clock, timeoutMs, `${protocol}: no answer in time`, async (signal) => {
    const stream = await open(signal);
    const abort = (): void => stream.abort();
    signal.addEventListener('abort', abort);
    if (signal.aborted) stream.abort();
    try {
      return await action(stream);
    } catch (cause) {
      stream.abort();
      throw cause;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  });
}

/** The asking side of one protocol on one connection. */
export class RequestStreams {
  private readonly connection: PeerConnection;
  private readonly protocol: string;
  private readonly answerBytesMax: number;
  private readonly clock: Clock;
  /**
   * Unused streams, the most recently used at the end, each with the function that stops its timer.
   */
  private kept: { readonly stream: PeerStream; readonly cancel: () => void }[] = [];
  /** The number of the latest request, on any stream. */
  private number = 0;
  private closed = false;

  constructor(connection: PeerConnection, protocol: string, answerBytesMax: number, clock: Clock) {
    this.connection = connection;
    this.protocol = protocol;
    this.answerBytesMax = answerBytesMax;
    this.clock = clock;
  }

  /**
   * The answer to a request. Rejects with TooLate, with RequestRefused or NoAnswer where the other
   * side gives none, and with what is the fault of this machine.
   */
  ask(message: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    const { protocol, clock } = this;
    const number = ++this.number;
    return converse(
      (signal) => this.take(signal),
      protocol,
      clock,
      timeoutMs,
      async (stream) => {
        await stream.send(headed(number, [], message));
        const { status, bytes } = await answerTo(number, stream, protocol);
        if (status === REFUSED) throw new RequestRefused(fromUtf8(bytes) ?? 'refused');
        this.keep(stream);
        return bytes;
      },
    ).catch((cause) => {
      throw isOfLine(cause) ? new NoAnswer(`${protocol}: ${String(cause)}`) : cause;
    });
  }

  /** The connection is over, and its streams with it. */
  close(): void {
    this.closed = true;
    for (const { cancel } of this.kept) cancel();
    this.kept = [];
  }

  private keep(stream: PeerStream): void {
    if (this.closed) return;
    // A timer, since the wall clock may jump.
    const cancel = this.clock.after(KEPT_MS_MAX, () => {
      this.kept = this.kept.filter((one) => one.stream !== stream);
      stream.end().catch(() => {});
    });
    this.kept.push({ stream, cancel });
  }

  private async take(signal: AbortSignal): Promise<PeerStream> {
    const last = this.kept.pop();
    last?.cancel();
    const bytesMax = ANSWER_HEAD_BYTES + this.answerBytesMax;
    return last?.stream ?? this.connection.open(this.protocol, bytesMax, signal);
  }
}

/** The stream broke. */
const isOfLine = (cause: unknown): boolean =>
  !(cause instanceof TooLate || cause instanceof Misconduct || isOwnFault(cause));

async function answerTo(number: number, stream: PeerStream, protocol: string) {
  const message = await stream.receive();
  if (message === undefined || message.length < ANSWER_HEAD_BYTES) {
    throw new NoAnswer(`${protocol}: the answer is not whole`);
  }
  const status = message[NUMBER_BYTES]!;
  if (numberOf(message) !== number || status > REFUSED) {
    throw new NoAnswer(`${protocol}: the answer to something else`);
  }
  return { status, bytes: message.subarray(ANSWER_HEAD_BYTES) };
}

/**
 * Serves the requests of a stream, each when it is due and there is a place. Rejects with CodecError
 * for a malformed request and MalformedStream for bad framing.
 */
export async function answerRequests(
  stream: PeerStream,
  clock: Clock,
  places: Semaphore,
  pace: Pace,
  answer: (message: Uint8Array) => Promise<Uint8Array>,
): Promise<void> {
  for (let last = 0; ; ) {
    const message = await within(clock, IDLE_MS_MAX, 'no request came for too long', () =>
      stream.receive(),
    );
    if (message === undefined) return stream.end();
    if (message.length < REQUEST_HEAD_BYTES) throw new CodecError('message', 'no whole request');
    const number = numberOf(message);
    if (number <= last) throw new CodecError('message', 'a request that came before');
    last = number;
    // Before the answer, since the next request may arrive on another stream.
    await pause(clock, pace.spend(message.length));
    const release = await places.acquire();
    try {
      const bytes = await answerOne(number, stream, clock, () =>
        answer(message.subarray(REQUEST_HEAD_BYTES)),
      );
      pace.spend(bytes, 0);
    } finally {
      release();
    }
  }
}

/** Returns the bytes of the answer. */
async function answerOne(
  number: number,
  stream: PeerStream,
  clock: Clock,
  answer: () => Promise<Uint8Array>,
): Promise<number> {
  const [status, bytes] = await answer().then(
    (bytes) => [ANSWERED, bytes] as const,
    (cause: unknown) => {
      if (isOurs(cause) || cause instanceof CodecError) throw cause;
      return [REFUSED, utf8((cause as Error).message.slice(0, REASON_CHARS_MAX))] as const;
    },
  );
  await within(clock, SEND_MS_MAX, 'the answer was not taken in time', () =>
    stream.send(headed(number, [status], bytes)),
  );
  return bytes.length;
}

function headed(number: number, rest: readonly number[], bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(NUMBER_BYTES + rest.length + bytes.length);
  new DataView(out.buffer).setUint32(0, number);
  out.set(rest, NUMBER_BYTES);
  out.set(bytes, NUMBER_BYTES + rest.length);
  return out;
}

const numberOf = (message: Uint8Array): number =>
  new DataView(message.buffer, message.byteOffset).getUint32(0);
