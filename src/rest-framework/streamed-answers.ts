/**
 * Makes streamed answers. A few are made at a time, and the others wait in a queue. Each runs for two
 * milliseconds; then the rest of the event loop runs.
 *
 * Invariants: an answer shows one state; it ends with a refusal as soon as it has more
 * rows or bytes than its budget allows; the bytes of all unfinished answers together are limited,
 * and those of a finished answer are freed when it has been sent.
 */
import { apiError } from '../base/errors.ts';
import type { Budget } from '../base/limits/budget.ts';
import { MIB } from '../base/limits/budget.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { HttpReply } from '../base/ports/http.ts';
import { type Release, Semaphore } from '../concurrency/semaphore.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import { Answer, JSON_TYPE } from './answer.ts';
import type { StreamedAnswer } from './json-chunks.ts';

const AT_ONCE = 4;
const WAITING_MAX = 256;
/**
 * Bytes of all unfinished answers: one of the longest while it grows, and several ordinary ones.
 */
const BYTES_MAX = 28 * MIB;
/** Shorter answers stay texts. */
const TEXT_CHARS_MAX = 32 * 1024;

/** Services that read one state until they are released. */
export interface Frozen<S> {
  readonly services: S;
  release(): void;
}

export interface StreamedAnswers<S> {
  /**
   * Synchronous where the answer is short and no other waits. Throws, or rejects with, ApiError.
   */
  reply(answer: StreamedAnswer<S>, budget: Budget): HttpReply | Promise<HttpReply>;
}

/** `freeze` gives services whose reads throw ApiError AnswerTooBig above this many rows. */
export function createStreamedAnswers<S>(
  clock: Pick<Clock, 'monotonic' | 'turn'>,
  freeze: (rowsMax: number) => Frozen<S>,
): StreamedAnswers<S> {
  const memory = { bytes: 0 };
  const places = new Semaphore(AT_ONCE, { inAll: WAITING_MAX });

  /** Gives the place back at the end, whatever throws. */
  function begin(
    answer: StreamedAnswer<S>,
    budget: Budget,
    release: Release,
  ): HttpReply | Promise<HttpReply> {
    const output = new Output(budget.bytesOut, memory);
    let frozen: Frozen<S> | undefined;
    const end = (): void => {
      release();
      output.settle();
      frozen?.release();
    };
    let chunks: Iterator<string | undefined> | undefined;
    try {
      frozen = freeze(budget.rows);
      chunks = answer.make(frozen.services)[Symbol.iterator]();
      const slice = new TimeSlice(clock);
      if (!write(chunks, output, slice)) return proceed(chunks, output, slice).finally(end);
      const reply = output.reply();
      end();
      return reply;
    } catch (error) {
      try {
        chunks?.return?.();
      } finally {
        end();
      }
      throw error;
    }
  }

  return {
    reply(answer, budget) {
      const free = places.tryAcquire();
      if (free !== undefined) return begin(answer, budget, free);
      return places.acquire().then((release) => begin(answer, budget, release));
    },
  };
}

/** Writes until the turn is over; true if nothing is left. */
function write(chunks: Iterator<string | undefined>, output: Output, slice: TimeSlice): boolean {
  do {
    const { done, value } = chunks.next();
    if (done === true) return true;
    if (value !== undefined) output.add(value);
  } while (!slice.isOver());
  return false;
}

async function proceed(
  chunks: Iterator<string | undefined>,
  output: Output,
  slice: TimeSlice,
): Promise<HttpReply> {
  try {
    do await slice.yield();
    while (!write(chunks, output, slice));
    return output.reply();
  } finally {
    // Releases what the generator still holds, above all a cursor of the store.
    chunks.return?.();
  }
}

/**
 * The text so far. Above a few kilobytes it becomes bytes outside the heap, which are freed when
 * they have been sent.
 */
class Output {
  private readonly bytesMax: number;
  /** Bytes held by all outputs. */
  private readonly memory: { bytes: number };
  private texts: string[] = [];
  private chars = 0;
  private buffer: Buffer<ArrayBuffer> | undefined;
  private filled = 0;
  private held = 0;

  constructor(bytesMax: number, memory: { bytes: number }) {
    this.bytesMax = bytesMax;
    this.memory = memory;
  }

  add(text: string): void {
    this.texts.push(text);
    this.chars += text.length;
    if (this.chars > TEXT_CHARS_MAX) this.spill();
  }

  private spill(): void {
    const text = this.texts.join('');
    this.texts = [];
    this.chars = 0;
    const bytes = Buffer.byteLength(text);
    this.roomFor(this.filled + bytes).write(text, this.filled);
    this.filled += bytes;
  }

  private roomFor(needed: number): Buffer<ArrayBuffer> {
    if (needed > this.bytesMax) {
      throw apiError('AnswerTooBig', `it would have more than ${this.bytesMax} bytes`);
    }
    const { buffer } = this;
    if (buffer !== undefined && buffer.length >= needed) return buffer;
    const size = Math.min(Math.max(needed, 2 * (buffer?.length ?? 0)), this.bytesMax);
    if (this.memory.bytes + size > BYTES_MAX) throw apiError('Overloaded');
    const grown = Buffer.allocUnsafeSlow(size);
    if (buffer !== undefined) {
      buffer.copy(grown, 0, 0, this.filled);
      free(buffer);
    }
    this.memory.bytes += size - this.held;
    this.held = size;
    this.buffer = grown;
    return grown;
  }

  /** Ends the output; nothing may be added afterwards. */
  reply(): HttpReply {
    if (this.buffer === undefined) return new Answer(200, JSON_TYPE, this.texts.join(''));
    this.spill();
    const { buffer } = this;
    this.buffer = undefined;
    const sent = (): void => free(buffer);
    return new Answer(200, JSON_TYPE, buffer.subarray(0, this.filled), undefined, sent);
  }

  /** From here on the bytes belong to the reply, or are free. */
  settle(): void {
    if (this.buffer !== undefined) free(this.buffer);
    this.memory.bytes -= this.held;
    this.held = 0;
  }
}

/** Frees the memory at once; the garbage collector would do so only after many more megabytes. */
const free = (buffer: Buffer<ArrayBuffer>): void => void buffer.buffer.transfer(0);
