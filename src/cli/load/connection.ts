/**
 * One connection that is kept and sends prepared requests, one after the other. Answers are only
 * split and timed: a full HTTP client would take more processor time than the node, and so measure
 * itself.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AnswerError, answerLength } from './answers.ts';

export interface Place {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
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
export function exchange<R extends Due>(place: Place, of: Exchange<R>): Promise<void> {
  return new Promise((closed) => {
    let pending: R | undefined;
    let partial: Buffer | undefined;
    let isDone = false;
    const socket = open(place, received);

    function sendNext(now: number): void {
      const request = of.next(now);
      if (request === undefined) {
        isDone = true;
        socket.destroy();
        return;
      }
      const wait = request.at - now;
      if (wait > 0) setTimeout(send, wait, request);
      else send(request);
    }

    function send(request: R): void {
      if (socket.destroyed) {
        of.lost(request, 'the connection ended');
        return;
      }
      pending = request;
      socket.write(request.bytes);
    }

    function received(chunk: Buffer): void {
      const bytes = partial === undefined ? chunk : Buffer.concat([partial, chunk]);
      const request = pending;
      if (request === undefined) {
        fail('an answer without a request');
        return;
      }
      if (!isWhole(bytes)) {
        // The buffer of the socket is used again for the next chunk.
        partial = Buffer.from(bytes);
        return;
      }
      partial = undefined;
      pending = undefined;
      const now = performance.now();
      of.answered(request, bytes, now);
      sendNext(performance.now());
    }

    function isWhole(bytes: Buffer): boolean {
      try {
        if (answerLength(bytes) > 0) return true;
        if (bytes.length > ANSWER_BYTES_MAX) fail('an answer that is too long');
      } catch (cause) {
        if (!(cause instanceof AnswerError)) throw cause;
        fail(cause.message);
      }
      return false;
    }

    function fail(why: string): void {
      socket.destroy(new Error(why));
    }

    let why = 'the connection ended';
    socket.on(place.tls ? 'secureConnect' : 'connect', () => sendNext(performance.now()));
    socket.on('error', (error) => {
      why = error.message;
    });
    socket.on('close', () => {
      if (!isDone) of.lost(pending, why);
      pending = undefined;
      closed();
    });
  });
}

function open({ host, port, tls }: Place, received: (chunk: Buffer) => void): Socket {
  if (tls) {
    const socket = connectTls({ host, port, servername: host });
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
