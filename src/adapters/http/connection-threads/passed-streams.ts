/**
 * Answers that go on, whose connections another thread holds. A text on its way to that thread counts
 * as one that waits for the client; the thread says when the client has taken it.
 */
import type { HttpStream } from '../../../base/ports/http.ts';
import type { Written } from './thread-messages.ts';

export class PassedStreams {
  private readonly streams = new Map<number, HttpStream>();
  private readonly send: (text: Written) => void;

  constructor(send: (text: Written) => void) {
    this.send = send;
  }

  /** The beginning of the answer is on its way. */
  begin(id: number, stream: HttpStream): void {
    this.streams.set(id, stream);
    stream.begin({
      write: (text) => {
        // Not a view, nor a part of a pool: a message takes all the memory behind it along.
        const own = typeof text === 'string' ? text : new Uint8Array(text);
        if (this.streams.has(id)) this.send({ id, text: own, isLast: false });
        return false;
      },
      end: (text) => {
        if (this.streams.delete(id)) this.send({ id, text, isLast: true });
      },
    });
  }

  taken(id: number): void {
    this.streams.get(id)?.ready();
  }

  gone(id: number): void {
    const stream = this.streams.get(id);
    this.streams.delete(id);
    stream?.closed();
  }

  /** The thread has ended. */
  close(): void {
    for (const id of [...this.streams.keys()]) this.gone(id);
  }
}
