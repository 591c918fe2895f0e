/**
 * An answer on Node's server. The head has the bytes of the native one. A long body goes out in
 * pieces, so that what its client has not taken is known.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Response } from '../app.ts';
import { addressBytes } from './address.ts';
import type { Answer, Connection } from './connection.ts';
import { httpDate } from './http-date.ts';

const PIECE_BYTES = 64 * 1024;
const NOTHING = new Uint8Array();

export class NodeResponse implements Response, Answer {
  private readonly connection: Connection;
  private readonly request: IncomingMessage;
  private readonly reply: ServerResponse;
  private status = '200 OK';
  private readonly headers: string[] = [];
  private readonly goneListeners: (() => void)[] = [];
  private ready: ((offset: number) => boolean) | undefined;
  /** Bytes of the body that were written. */
  private written = 0;
  /** Pieces that the connection has not taken. */
  private waiting = 0;
  private queuedBytes = 0;
  private isAborted = false;
  isEnded = false;
  isHeld = false;
  /** The request is whole; before that, an answer to its parser's error may still go out. */
  private isWhole = true;

  constructor(connection: Connection, request: IncomingMessage, reply: ServerResponse) {
    this.connection = connection;
    this.request = request;
    this.reply = reply;
    // The end of the connection follows.
    reply.on('error', () => {});
  }

  get isPending(): boolean {
    return !this.isEnded && (this.isWhole || this.reply.headersSent);
  }

  writeStatus(line: string): void {
    this.status = line;
  }

  writeHeader(name: string, value: string): void {
    this.headers.push(name, value);
  }

  end(body: string | Uint8Array, closeConnection = false): void {
    if (this.isAborted) return;
    if (!this.reply.headersSent) {
      if (closeConnection) this.sayClose();
      this.headers.push('Date', httpDate(), 'Content-Length', String(Buffer.byteLength(body)));
      this.writeHead();
    }
    this.finish(body);
  }

  endWithoutBody(length?: number, closeConnection = false): void {
    if (this.isAborted) return;
    if (closeConnection) this.sayClose();
    this.headers.push('Date', httpDate());
    if (length !== undefined) this.headers.push('Content-Length', String(length));
    this.writeHead();
    this.finish('');
  }

  write(piece: string | Uint8Array): boolean {
    if (this.isAborted) return false;
    if (!this.reply.headersSent) {
      this.headers.push('Date', httpDate(), 'Transfer-Encoding', 'chunked');
      this.writeHead();
    }
    // Node keeps what it cannot send at once.
    this.writePiece(typeof piece === 'string' ? piece : Buffer.from(piece));
    return this.reply.writableLength === 0;
  }

  tryEnd(rest: string | Uint8Array, total: number): [ok: boolean, done: boolean] {
    if (this.isAborted) return [false, true];
    if (!this.reply.headersSent) {
      this.headers.push('Date', httpDate(), 'Content-Length', String(total));
      this.writeHead();
    }
    if (this.isEnded) return [true, true];
    if (total - this.written > PIECE_BYTES) {
      const bytes = typeof rest === 'string' ? Buffer.from(rest) : rest;
      this.written += PIECE_BYTES;
      this.writePiece(bytes.subarray(0, PIECE_BYTES));
      this.isHeld = true;
      return [false, false];
    }
    this.written = total;
    const hasRoom = this.finish(rest);
    const isTaken = this.isQueued() ? hasRoom : this.reply.writableLength === 0;
    this.isHeld = !isTaken;
    return [isTaken, isTaken];
  }

  getWriteOffset(): number {
    return Math.max(0, this.written - this.reply.writableLength);
  }

  onWritable(ready: (offset: number) => boolean): void {
    this.ready = ready;
  }

  onAborted(gone: () => void): void {
    this.goneListeners.push(gone);
  }

  onData(take: (piece: Uint8Array, isLast: boolean) => void): void {
    const { request, connection } = this;
    const length = Number(request.headers['content-length'] ?? Number.NaN);
    let received = 0;
    let hasEnded = false;
    const last = (piece: Uint8Array): void => {
      hasEnded = true;
      this.isWhole = true;
      connection.bodyEnds();
      take(piece, true);
    };
    this.isWhole = false;
    connection.bodyBegins();
    request.on('data', (piece: Uint8Array) => {
      if (this.isAborted) return;
      received += piece.length;
      connection.bodyArrives(piece.length);
      // A body in one piece is not copied.
      if (received === length) last(piece);
      else take(piece, false);
    });
    request.on('end', () => {
      if (!this.isAborted && !hasEnded) last(NOTHING);
    });
  }

  cork(write: () => void): void {
    write();
  }

  pause(): void {
    this.request.pause();
  }

  resume(): void {
    this.request.resume();
  }

  close(): void {
    this.connection.close();
  }

  getRemoteAddress(): ArrayBuffer {
    return addressBytes(this.connection.socket.remoteAddress ?? '');
  }

  getX509Certificate(): string {
    return this.connection.certificate;
  }

  abort(): void {
    if (this.isAborted || (this.isEnded && !this.isHeld)) return;
    this.isAborted = true;
    for (const gone of this.goneListeners) gone();
  }

  /** Once: the answer to the last request of a connection says so already. */
  private sayClose(): void {
    if (!this.headers.includes('Connection')) this.headers.push('Connection', 'close');
  }

  private writeHead(): void {
    const { reply, status, headers } = this;
    reply.sendDate = false;
    // Neither says anything about the connection where it goes on, as HTTP/1.1 has it.
    reply.removeHeader('connection');
    reply.writeHead(Number(status.slice(0, 3)), status.slice(4), headers.map(inBytes));
  }

  private writePiece(piece: string | Uint8Array): void {
    this.waiting++;
    this.connection.progress();
    // Else Node would gather what is written in this turn.
    this.reply.cork();
    this.reply.write(piece, () => this.taken());
    this.reply.uncork();
  }

  /** False where too much waits for the answers before it. */
  private finish(rest: string | Uint8Array): boolean {
    this.isEnded = true;
    this.connection.progress();
    this.queuedBytes = this.isQueued() ? Buffer.byteLength(rest) : 0;
    const hasRoom = this.connection.queue(this.queuedBytes);
    this.reply.end(rest, () => {
      if (this.isAborted) return;
      this.connection.answered(this, this.queuedBytes);
      if (this.isHeld) this.ready?.(this.written);
      this.isHeld = false;
    });
    return hasRoom;
  }

  /** Answers to earlier requests of the same piece go out before it. */
  private isQueued(): boolean {
    return this.reply.socket === null;
  }

  private taken(): void {
    this.waiting--;
    if (this.isAborted || this.isEnded) return;
    // A stream that is silent is no slow client.
    if (this.waiting === 0) this.connection.rest();
    else this.connection.progress();
    if (this.waiting === 0) this.ready?.(this.written);
  }
}

/** Node writes a byte for each character of a head. */
const inBytes = (text: string): string => Buffer.from(text).toString('latin1');
