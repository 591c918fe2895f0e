/**
 * Messages on a stream of libp2p: each a length of four bytes, big-endian, and its bytes.
 *
 * Invariants: a length above the limit ends the connection before any byte of the message is
 * awaited; at most one slice of a message waits to be sent and little more than one window is
 * unread, whatever the other side does; returned messages have their own memory.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Libp2p } from 'libp2p';
import { MalformedStream, type PeerStream } from '../../base/ports/network.ts';

export type RawStream = Awaited<ReturnType<Libp2p['dialProtocol']>>;

const LENGTH_BYTES = 4;
/** With the header of the multiplexer, a slice just fits into one message of noise. */
const SLICE_BYTES = 65_535 - 16 - 12;
/** Encrypting a slice takes half a millisecond, and several streams may send at a time. */
const SLICES_IN_TURN = 4;
/** With more unread bytes than this, the other side has to wait. */
const READ_AHEAD_BYTES = 64 * 1024;

export class FramedStream implements PeerStream {
  private readonly stream: RawStream;
  private readonly messageBytesMax: number;
  private readonly connection: { abort(): void };
  private readonly chunks: Uint8Array[] = [];
  private buffered = 0;
  /** The length of the message that is being read, once it is known. */
  private expected: number | undefined;
  private failure: Error | undefined;
  private ended = false;
  private reader: (() => void) | undefined;

  constructor(stream: RawStream, messageBytesMax: number, connection: { abort(): void }) {
    this.stream = stream;
    this.messageBytesMax = messageBytesMax;
    this.connection = connection;
    stream.addEventListener('message', ({ data }) => this.take(data.subarray()));
    stream.addEventListener('end', () => this.finish());
    stream.addEventListener('close', ({ error }) => {
      if (error !== undefined) this.failure ??= error;
      if (error !== undefined || stream.readBufferLength === 0) this.finish();
    });
    if (stream.readableEnded) this.ended = true;
  }

  async send(message: Uint8Array): Promise<void> {
    const first = message.subarray(0, SLICE_BYTES - LENGTH_BYTES);
    const head = Buffer.allocUnsafe(LENGTH_BYTES + first.length);
    head.writeUInt32BE(message.length);
    head.set(first, LENGTH_BYTES);
    await this.write(head);
    for (let at = first.length, slices = 1; at < message.length; at += SLICE_BYTES, slices++) {
      if (slices % SLICES_IN_TURN === 0) await turn();
      await this.write(message.subarray(at, at + SLICE_BYTES));
    }
  }

  /** From its second use on, `onDrain` of libp2p resolves at once, so this waits for events. */
  private async write(bytes: Uint8Array): Promise<void> {
    const { stream } = this;
    stream.send(bytes);
    while (stream.writableNeedsDrain || stream.writeBufferLength > 0) {
      if (stream.writeStatus === 'closed') break;
      await new Promise<void>((resolve) => {
        const done = (): void => {
          for (const name of ['drain', 'idle', 'close'] as const) {
            stream.removeEventListener(name, done);
          }
          resolve();
        };
        for (const name of ['drain', 'idle', 'close'] as const) {
          stream.addEventListener(name, done);
        }
      });
    }
    if (stream.status !== 'open') throw this.failure ?? new Error('the stream is closed');
  }

  async receive(): Promise<Uint8Array | undefined> {
    for (;;) {
      const message = this.next();
      if (message !== undefined) return message;
      if (this.failure !== undefined) throw this.failure;
      if (this.ended) {
        if (this.buffered === 0 && this.expected === undefined) return undefined;
        throw new Error('the stream ended within a message');
      }
      const more = new Promise<void>((resolve) => {
        this.reader = resolve;
      });
      this.resume();
      await more;
    }
  }

  /** A complete message, if there is one. Throws MalformedStream on a length above the limit. */
  private next(): Uint8Array | undefined {
    if (this.expected === undefined) {
      if (this.buffered < LENGTH_BYTES) return undefined;
      this.expected = Buffer.from(this.cut(LENGTH_BYTES)).readUInt32BE(0);
    }
    if (this.expected > this.messageBytesMax) {
      const why = `a message of ${this.expected} bytes, at most ${this.messageBytesMax}`;
      this.failure = new MalformedStream(why);
      this.connection.abort();
      throw this.failure;
    }
    if (this.buffered < this.expected) return undefined;
    const message = this.cut(this.expected);
    this.expected = undefined;
    return message;
  }

  /** The first unread bytes, as a copy. */
  private cut(count: number): Uint8Array {
    const out = new Uint8Array(count);
    let at = 0;
    while (at < count) {
      const chunk = this.chunks[0]!;
      const part = chunk.subarray(0, count - at);
      out.set(part, at);
      at += part.length;
      if (part.length === chunk.length) this.chunks.shift();
      else this.chunks[0] = chunk.subarray(part.length);
    }
    this.buffered -= count;
    return out;
  }

  private take(bytes: Uint8Array): void {
    this.chunks.push(bytes);
    this.buffered += bytes.length;
    if (this.reader !== undefined) this.wake();
    else if (this.buffered > READ_AHEAD_BYTES && this.stream.readStatus === 'readable') {
      this.stream.pause();
    }
  }

  private resume(): void {
    if (this.stream.readStatus !== 'paused') return;
    try {
      this.stream.resume();
    } catch {
      // The connection has gone meanwhile. The bytes that had arrived were returned before this was
      // noticed.
    }
    if (this.stream.status !== 'open' && this.stream.readBufferLength === 0) this.finish();
  }

  private finish(): void {
    this.ended = true;
    this.wake();
  }

  private wake(): void {
    const { reader } = this;
    this.reader = undefined;
    reader?.();
  }

  async end(): Promise<void> {
    await this.stream.close();
  }

  abort(): void {
    this.failure ??= new Error('the stream was aborted');
    this.stream.abort(this.failure);
    this.wake();
  }
}
