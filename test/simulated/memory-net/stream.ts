/** One end of a stream in memory. */
import { MalformedStream, type PeerStream } from '../../../src/base/ports/network.ts';
import type { Carrier } from './link.ts';

/** Bytes that may lie unread at the receiver before the sender has to wait. */
const UNREAD_BYTES_MAX = 1024 * 1024;
const NOTHING = new Uint8Array(0);

export class MemoryStream implements PeerStream {
  readonly protocol: string;
  readonly inbound: boolean;
  onGone = (): void => {};
  private readonly connection: Carrier;
  private readonly messageBytesMax: number;
  private other: MemoryStream | undefined;
  private readonly inbox: Uint8Array[] = [];
  private unreadBytes = 0;
  private remoteEnded = false;
  private ended = false;
  private failure: Error | undefined;
  private reader: (() => void) | undefined;
  /** Senders that wait for their message to be accepted. */
  private writers: (() => void)[] = [];
  /** Messages that the reader has to make room for. */
  private readonly blocked: (() => void)[] = [];
  /** Sent before the other end existed. */
  private early: (() => void)[] | undefined;

  constructor(
    connection: Carrier,
    protocol: string,
    messageBytesMax: number,
    other?: MemoryStream,
  ) {
    this.connection = connection;
    this.protocol = protocol;
    this.messageBytesMax = messageBytesMax;
    this.inbound = other !== undefined;
    this.other = other;
    this.early = other === undefined ? [] : undefined;
  }

  /** The other end has come into being. */
  join(other: MemoryStream): void {
    this.other = other;
    const early = this.early ?? [];
    this.early = undefined;
    for (const action of early) action();
  }

  send(message: Uint8Array): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    if (this.ended) return Promise.reject(new Error('the stream has ended'));
    // `slice` of a Buffer would be a view.
    const copy = new Uint8Array(message);
    const { link, pipe } = this.connection;
    const { delayMs = 0, lost, duplicated, truncated } = link.fate(this.protocol, message);
    if (lost === true) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.writers.push(() => (this.failure === undefined ? resolve() : reject(this.failure)));
      const done = this.writers.at(-1)!;
      pipe.put(delayMs, () =>
        this.toOther((other) => {
          if (truncated === true) other.truncated();
          else other.deliver(copy, () => this.written(done));
          if (duplicated === true) other.deliver(copy, () => {});
        }),
      );
    });
  }

  private written(done: () => void): void {
    this.writers = this.writers.filter((one) => one !== done);
    done();
  }

  private toOther(action: (other: MemoryStream) => void): void {
    if (this.early !== undefined) this.early.push(() => this.toOther(action));
    else if (this.other?.connection.isClosed() === true) this.connection.reset();
    else if (this.other !== undefined && this.other.failure === undefined) action(this.other);
  }

  private deliver(message: Uint8Array, accepted: () => void): void {
    if (message.length > this.messageBytesMax) {
      this.malformed(`a message of ${message.length} bytes, at most ${this.messageBytesMax}`);
      return;
    }
    this.inbox.push(message);
    this.unreadBytes += message.length;
    if (this.unreadBytes > UNREAD_BYTES_MAX) this.blocked.push(accepted);
    else accepted();
    this.wake();
  }

  private malformed(why: string): void {
    this.broken(new MalformedStream(why));
    this.connection.abort();
  }

  private truncated(): void {
    this.broken(new Error('the stream ended within a message'));
    this.connection.abort();
  }

  async receive(): Promise<Uint8Array | undefined> {
    for (;;) {
      const message = this.inbox.shift();
      if (message !== undefined) {
        this.unreadBytes -= message.length;
        if (this.unreadBytes <= UNREAD_BYTES_MAX) {
          for (const accepted of this.blocked.splice(0)) accepted();
        }
        return message;
      }
      if (this.failure !== undefined) throw this.failure;
      if (this.remoteEnded) return undefined;
      await new Promise<void>((resolve) => {
        this.reader = resolve;
      });
    }
  }

  async end(): Promise<void> {
    if (this.ended || this.failure !== undefined) return;
    this.ended = true;
    this.goneIfOver();
    this.signal((other) => {
      other.remoteEnded = true;
      other.wake();
      other.goneIfOver();
    });
  }

  private goneIfOver(): void {
    if (this.ended && this.remoteEnded) this.onGone();
  }

  abort(): void {
    if (this.failure !== undefined) return;
    this.broken(new Error('the stream was aborted'));
    this.signal((other) => other.broken(new Error('the stream was reset')));
  }

  /** Something without content, which a partition loses too. */
  private signal(action: (other: MemoryStream) => void): void {
    const { link, pipe } = this.connection;
    const { delayMs = 0, lost } = link.fate(this.protocol, NOTHING);
    if (lost !== true) pipe.put(delayMs, () => this.toOther(action));
  }

  /** Everything that waits fails. */
  broken(why: Error): void {
    if (this.failure !== undefined) return;
    this.failure = why;
    this.onGone();
    this.wake();
    for (const done of this.writers.splice(0)) done();
  }

  private wake(): void {
    const { reader } = this;
    this.reader = undefined;
    reader?.();
  }
}
