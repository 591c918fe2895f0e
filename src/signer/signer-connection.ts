/** One connection of a node to a signer, on the side of the signer: its order, and its limits. */
import { unlessOurs } from '../base/assert.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { Log } from '../base/ports/log.ts';
import type { Line } from '../base/signer/signer-line.ts';
import { type ChainScheme, CodecError } from '../codec/codec.ts';
import { BadFrame, FrameReader, frameOf } from './frames.ts';
import type { Signer } from './signer.ts';
import {
  type Answer,
  decodeQuestion,
  encodeAnswer,
  type Question,
  type ToSign,
} from './signer-messages.ts';

export interface ConnectionPorts {
  readonly scheme: ChainScheme;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
  readonly signer: Pick<Signer, 'greet' | 'sign'>;
  /** The signer itself has failed. */
  readonly onFailure: (cause: unknown) => void;
}

/** A node greets, and ends a frame that it has begun, within this time. */
export const PATIENCE_MS = 10_000;
/** Questions of one connection that wait for an answer. */
const QUESTIONS_MAX = 1000;
const WAITING_BYTES_MAX = 1024 * 1024;

export class SignerConnection {
  private readonly line: Line;
  private readonly ports: ConnectionPorts;
  private readonly reader: FrameReader;
  private isGreeted = false;
  private open = 0;
  private isClosed = false;
  private cancel: () => void;

  constructor(line: Line, frameBytesMax: number, ports: ConnectionPorts) {
    this.line = line;
    this.ports = ports;
    this.reader = new FrameReader(frameBytesMax);
    this.cancel = ports.clock.after(PATIENCE_MS, () => this.end('no greeting came in time'));
  }

  take(chunk: Uint8Array): void {
    if (this.isClosed) return;
    let isNew = !this.reader.isInside;
    try {
      for (const body of this.reader.take(chunk)) {
        isNew = true;
        if (this.isClosed) return;
        this.question(decodeQuestion(body, this.ports.scheme));
      }
    } catch (cause) {
      if (!(cause instanceof CodecError) && !(cause instanceof BadFrame)) throw cause;
      this.end(cause.message);
      return;
    }
    // A frame that goes on keeps the time of its beginning.
    if (isNew) this.watch();
  }

  /** The other side has ended it. */
  closed(): void {
    this.isClosed = true;
    this.cancel();
  }

  private watch(): void {
    if (!this.isGreeted) return;
    this.cancel();
    if (!this.reader.isInside) return;
    this.cancel = this.ports.clock.after(PATIENCE_MS, () => this.end('a frame did not end'));
  }

  private question(question: Question): void {
    const { signer } = this.ports;
    if ('greeting' in question) {
      const answer = signer.greet(question.greeting);
      this.isGreeted = 'keys' in answer;
      this.answer(question.id, answer);
      if (!this.isGreeted) this.end('refused' in answer ? answer.refused : '');
      return;
    }
    if (!this.isGreeted) this.end('a question before the greeting');
    else if (this.open >= QUESTIONS_MAX) this.end('too many questions at a time');
    else this.toSign(question.id, question.toSign);
  }

  private toSign(id: number, question: ToSign): void {
    const { signer, onFailure } = this.ports;
    this.open += 1;
    // The frame is a view of what the socket may use again.
    const message = question.message.slice();
    const address = question.address.slice();
    signer
      .sign({ ...question, address, message })
      .then((answer) => {
        this.open -= 1;
        if (!this.isClosed) this.answer(id, answer);
      })
      .catch(unlessOurs(onFailure));
  }

  private answer(id: number, answer: Answer): void {
    this.line.send(frameOf(encodeAnswer(id, answer, this.ports.scheme)));
    if (this.line.waitingBytes() > WAITING_BYTES_MAX) this.end('it takes no answers');
  }

  private end(why: string): void {
    if (this.isClosed) return;
    this.closed();
    this.ports.log.warn('signer.connection-ended', { why });
    this.line.close();
  }
}
