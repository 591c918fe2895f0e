/**
 * A connection of a client: at most one request at a time, and a time for everything that the client
 * has to do.
 */
import type { Socket } from 'node:net';

/** What a connection knows of an answer. */
export interface Answer {
  /** The whole answer was written. */
  readonly isEnded: boolean;
  /** Its client has not taken all that was written. */
  readonly isHeld: boolean;
  /** Another answer can no longer take its place. */
  readonly isPending: boolean;
  /** The connection is gone. */
  abort(): void;
}

/** For a whole head, for the next bytes of a body, and for the next bytes of an answer. */
const IDLE_MS = 10_000;
/** A body has to bring as many bytes in that time. */
const BODY_BYTES_MIN = 160 * 1024;
/** After the last answer, for the client to end its side. */
const LINGER_MS = 2_000;
/** Answers to requests that came in one piece wait for those before them, up to so many bytes. */
const QUEUED_BYTES_MAX = 64 * 1024;
/** Requests of one piece that wait for the answer before them, which may be there at once. */
const WAITING_MAX = 16;

export class Connection {
  readonly socket: Socket;
  /** PEM of the client's, '' where it has shown none. */
  readonly certificate: string;
  /** The latest one. */
  private response: Answer | undefined;
  private deadline = performance.now() + IDLE_MS;
  private bodyBytes = 0;
  private queuedBytes = 0;
  private readonly waiting: (() => void)[] = [];
  /** Requests behind one that ended the connection. */
  private ignored = 0;
  /** The answer to what is no request, while the answers before it go out. */
  private refusal: string | undefined;
  /** Nothing is read as a request any more. */
  isEnding = false;

  constructor(socket: Socket, certificate: string) {
    this.socket = socket;
    this.certificate = certificate;
    // Node ends a connection with this. What a client still sends must not keep it from its answer.
    socket.destroySoon = () => this.end();
    socket.once('close', () => this.gone());
  }

  /**
   * Serves a request now, or when all promises that are settled have gone on. Then the connection
   * ends if the answer before it is still pending, or waits for its client.
   */
  serve(work: () => void): void {
    if (this.isEnding || this.refusal !== undefined) {
      // Node's parser goes on, and each request takes memory until the connection is closed.
      if (++this.ignored > WAITING_MAX) this.close();
      return;
    }
    if (!this.isBusy && this.waiting.length === 0) work();
    else if (this.waiting.push(work) === 1) setImmediate(() => this.serveWaiting());
    else if (this.waiting.length > WAITING_MAX) this.close();
  }

  private serveWaiting(): void {
    const work = this.waiting.shift();
    if (this.isEnding || this.refusal !== undefined || work === undefined) return;
    if (this.isBusy) {
      this.close();
      return;
    }
    work();
    if (this.waiting.length > 0) setImmediate(() => this.serveWaiting());
  }

  private get isBusy(): boolean {
    const { response } = this;
    return response !== undefined && !(response.isEnded && !response.isHeld);
  }

  begin(response: Answer): void {
    this.response = response;
    this.rest();
  }

  /** The client has nothing to do. */
  rest(): void {
    if (!this.isEnding) this.deadline = Number.POSITIVE_INFINITY;
  }

  /** The handler waits for the body. */
  bodyBegins(): void {
    this.bodyBytes = 0;
    this.progress();
  }

  bodyArrives(bytes: number): void {
    this.bodyBytes += bytes;
    if (this.bodyBytes >= BODY_BYTES_MIN) this.bodyBegins();
  }

  bodyEnds(): void {
    this.rest();
  }

  /** Something was written, or its client has taken a part of it. */
  progress(): void {
    if (!this.isEnding) this.deadline = performance.now() + IDLE_MS;
  }

  /** False where as much waits for the answers before it that it counts as not taken. */
  queue(bytes: number): boolean {
    this.queuedBytes += bytes;
    return this.queuedBytes <= QUEUED_BYTES_MAX;
  }

  /** The client has taken an answer of which so many bytes were queued. */
  answered(response: Answer, queuedBytes: number): void {
    this.queuedBytes -= queuedBytes;
    if (this.response !== response) return;
    this.response = undefined;
    if (this.refusal === undefined) this.progress();
    else this.endWith(this.refusal);
  }

  /** Answers what is no request, and ends the connection; a pending answer gets no other. */
  refuse(answer: string): void {
    const { response } = this;
    if (this.isEnding) return;
    if (response?.isPending === true) this.close();
    else if (response?.isEnded === true) this.refusal ??= answer;
    else this.endWith(answer);
  }

  private endWith(answer: string): void {
    this.socket.write(answer, 'latin1');
    this.end();
  }

  /** Ends this side once the last answer has left. */
  end(): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.deadline = performance.now() + LINGER_MS;
    this.socket.end();
  }

  /** Ends it at once. */
  close(): void {
    this.isEnding = true;
    this.gone();
    this.socket.destroy();
  }

  sweep(now: number): void {
    if (now > this.deadline) this.close();
  }

  private gone(): void {
    const { response } = this;
    this.response = undefined;
    response?.abort();
  }
}
