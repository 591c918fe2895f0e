/**
 * One connection that is kept and sends prepared requests, one after the other. Answers are only
 * split and timed: a full HTTP client would take more processor time than the node, and so measure
 * itself.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ClientTls } from '../../adapters/http/undici.ts';
import { AnswerError, answerLength } from './answers.ts';

export interface Place {
  readonly host: string;
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly tls?: ClientTls | undefined;
}

export interface Due {
  /** A whole HTTP request. */
  readonly bytes: Uint8Array;
  /** When it is to be sent, by `performance.now()`. */
  readonly at: number;
}

export interface Exchange<R extends Due> {
  /** The next request; undefined when the connection has no more to do. */
  next(now: number): R | undefined;
  /** `answer` is valid during the call only. */
  answered(request: R, answer: Buffer, now: number): void;
  /** The connection ended while this request waited for its answer, or before it was opened. */
  lost(request: R | undefined, why: string): void;
}

const READ_BYTES = 64 * 1024;
const ANSWER_BYTES_MAX = 1024 * 1024;

/** Resolves when the connection is closed, because there is no more to send or because it is lost. */
export const exchange = <R extends Due>(place: Place, of: Exchange<R>): Promise<void> =>
  new Connection(place, of).run();

class Connection<R extends Due> {
  private readonly place: Place;
  private readonly of: Exchange<R>;
  private socket!: Socket;
  private pending: R | undefined;
  private partial: Buffer | undefined;
  private isDone = false;

  constructor(place: Place, of: Exchange<R>) {
    this.place = place;
    this.of = of;
  }

  run(): Promise<void> {
    const socket = open(this.place, (chunk) => this.received(chunk));
    this.socket = socket;
    let why = 'the connection ended';
    const ready = this.place.tls === undefined ? 'connect' : 'secureConnect';
    socket.on(ready, () => this.sendNext());
    socket.on('error', (error) => {
      why = error.message;
    });
    return new Promise((closed) => {
      socket.on('close', () => {
        if (!this.isDone) this.of.lost(this.pending, why);
        this.pending = undefined;
        closed();
      });
    });
  }

  private sendNext(): void {
    const now = performance.now();
    const request = this.of.next(now);
    if (request === undefined) {
      this.isDone = true;
      this.socket.destroy();
      return;
    }
    const wait = request.at - now;
    if (wait > 0) setTimeout(() => this.send(request), wait);
    else this.send(request);
  }

  private send(request: R): void {
    if (this.socket.destroyed) {
      this.of.lost(request, 'the connection ended');
      return;
    }
    this.pending = request;
    this.socket.write(request.bytes);
  }

  private received(chunk: Buffer): void {
    const bytes = this.partial === undefined ? chunk : Buffer.concat([this.partial, chunk]);
    const request = this.pending;
    if (request === undefined) {
      this.fail('an answer without a request');
      return;
    }
    if (!this.isWhole(bytes)) {
      // The buffer of the socket is used again for the next chunk.
      this.partial = Buffer.from(bytes);
      return;
    }
    this.partial = undefined;
    this.pending = undefined;
    this.of.answered(request, bytes, performance.now());
    this.sendNext();
  }

  private isWhole(bytes: Buffer): boolean {
    try {
      if (answerLength(bytes) > 0) return true;
      if (bytes.length > ANSWER_BYTES_MAX) this.fail('an answer that is too long');
    } catch (cause) {
      if (!(cause instanceof AnswerError)) throw cause;
      this.fail(cause.message);
    }
    return false;
  }

  private fail(why: string): void {
    this.socket.destroy(new Error(why));
  }
}

function open({ host, port, tls }: Place, received: (chunk: Buffer) => void): Socket {
  if (tls !== undefined) {
    const socket = connectTls({ ...tls, host, port, servername: host });
    socket.setNoDelay(true);
    socket.on('data', received);
    return socket;
  }
  return connectTcp({
    host,
    port,
    noDelay: true,
    // One buffer for all reads of a connection instead of one for each.
    onread: {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback(length, buffer) {
        received(Buffer.from(buffer.buffer, buffer.byteOffset, length));
        return true;
      },
    },
  });
}
