/**
 * Answers that their clients have not received yet. The body stays here, because it could not be
 * counted in the native buffers. Its connection is busy meanwhile, and a second request on it ends
 * the connection. A client that receives too slowly loses its connection. When all unsent answers
 * together take too much memory, so do those that have received nothing for a second. Clients that go
 * on receiving may hold three times as much; then whoever has waited for longest is left.
 */
import type { Response } from './app.ts';

const SWEEP_MS = 1_000;
/** A client must take a certain amount in this time, or the rest of the answer. */
const PACE_MS = 10_000;
const PACE_BYTES = 128 * 1024;
/** A client that has received nothing for so long makes room for others. */
const IDLE_MS = 1_000;
/** What clients that go on receiving may hold, in units of the limit for all. */
const RECEIVING_SHARE = 3;

class Pending {
  readonly response: Response;
  readonly total: number;
  readonly sent: (() => void) | undefined;
  /** The bytes of the body that were taken, and when that was checked. */
  offset: number;
  mark: number;
  markedAt = performance.now();
  /** When the client has last received something. */
  movedAt = performance.now();

  constructor(response: Response, total: number, sent: (() => void) | undefined) {
    this.response = response;
    this.total = total;
    this.sent = sent;
    this.offset = response.getWriteOffset();
    this.mark = this.offset;
  }
}

export class Unsent {
  /** The client that has taken nothing for longest comes first. */
  private readonly pending = new Set<Pending>();
  private readonly maxBytes: number;
  private readonly sweeper: NodeJS.Timeout;
  private bytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
    this.sweeper = setInterval(() => this.sweep(), SWEEP_MS);
    this.sweeper.unref();
  }

  /** Ends the response with this body; `sent` is called once the body is no longer needed. */
  end(response: Response, body: string | Uint8Array, sent: (() => void) | undefined): void {
    const total = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    const [, done] = response.tryEnd(body as string, total);
    if (done) sent?.();
    else this.hold(response, typeof body === 'string' ? Buffer.from(body) : body, sent);
  }

  private hold(response: Response, body: Uint8Array, sent: (() => void) | undefined): void {
    const one = new Pending(response, body.length, sent);
    this.pending.add(one);
    this.bytes += one.total - one.offset;
    response.onAborted(() => this.drop(one));
    response.onWritable((offset) => {
      const [ok, done] = response.tryEnd(body.subarray(offset) as unknown as string, one.total);
      if (done) this.drop(one);
      else this.moved(one, response.getWriteOffset());
      return ok;
    });
    this.makeRoom(one);
  }

  private moved(one: Pending, offset: number): void {
    this.bytes -= offset - one.offset;
    one.offset = offset;
    one.movedAt = performance.now();
    this.pending.delete(one);
    this.pending.add(one);
  }

  private drop(one: Pending): void {
    if (!this.pending.delete(one)) return;
    this.bytes -= one.total - one.offset;
    one.sent?.();
  }

  private makeRoom(newest: Pending): void {
    const idleSince = performance.now() - IDLE_MS;
    for (const one of this.pending) {
      if (this.bytes <= this.maxBytes) return;
      const isReceiving = one.movedAt > idleSince && this.bytes <= RECEIVING_SHARE * this.maxBytes;
      if (isReceiving) return;
      if (one !== newest) one.response.close();
    }
  }

  private sweep(): void {
    const now = performance.now();
    for (const one of this.pending) {
      if (now - one.markedAt < PACE_MS) continue;
      if (one.offset - one.mark < PACE_BYTES) one.response.close();
      one.mark = one.offset;
      one.markedAt = now;
    }
  }

  close(): void {
    clearInterval(this.sweeper);
  }
}
