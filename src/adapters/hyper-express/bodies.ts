/** Bodies on their way in: their sum in memory and their time are bounded. */
const SWEEP_MS = 1_000;
const FIRST_BYTES = 1024 * 1024;

export class PendingBody {
  readonly startedAt: number;
  readonly expire: () => void;
  ended = false;
  /** Bytes received and held. */
  size = 0;
  /** Bytes that the request has announced; 0 where it has not. */
  private readonly announced: number;
  private buffer: Buffer | undefined;
  private filled = 0;

  constructor(announced: number, expire: () => void) {
    this.startedAt = performance.now();
    this.announced = announced;
    this.expire = expire;
  }

  /** The whole body once it is complete; a body in one piece is not copied. */
  add(chunk: ArrayBuffer, last: boolean): Uint8Array | undefined {
    const view = new Uint8Array(chunk);
    if (last && this.filled === 0) return view;
    // The parser takes its buffer back after this call.
    const buffer = this.roomFor(view.length);
    buffer.set(view, this.filled);
    this.filled += view.length;
    return last ? buffer.subarray(0, this.filled) : undefined;
  }

  /** Twice as much at a time, and no more than is announced: who announces has not sent yet. */
  private roomFor(bytes: number): Buffer {
    const needed = this.filled + bytes;
    const { buffer, announced } = this;
    if (buffer !== undefined && buffer.length >= needed) return buffer;
    const ample = Math.max(needed, 2 * (buffer?.length ?? 0), FIRST_BYTES);
    const grown = Buffer.allocUnsafeSlow(Math.min(ample, Math.max(announced, needed)));
    if (buffer !== undefined) buffer.copy(grown, 0, 0, this.filled);
    this.buffer = grown;
    return grown;
  }

  drop(): void {
    this.buffer = undefined;
  }
}

export class Bodies {
  private readonly maxBytes: number;
  private readonly timeoutMs: number;
  private readonly pending = new Set<PendingBody>();
  private readonly sweeper: NodeJS.Timeout;
  private bytes = 0;

  constructor(maxBytes: number, timeoutMs: number) {
    this.maxBytes = maxBytes;
    this.timeoutMs = timeoutMs;
    this.sweeper = setInterval(() => this.sweep(), Math.min(SWEEP_MS, timeoutMs));
    this.sweeper.unref();
  }

  /** `announced` is the length that the request names, and within the limit; 0 where it names none. */
  begin(announced: number, expire: () => void): PendingBody {
    const body = new PendingBody(announced, expire);
    this.pending.add(body);
    return body;
  }

  /** False when all bodies together would need too much memory. */
  reserve(body: PendingBody, bytes: number): boolean {
    if (this.bytes + bytes > this.maxBytes) return false;
    this.bytes += bytes;
    body.size += bytes;
    return true;
  }

  /** False if it had ended before. */
  end(body: PendingBody): boolean {
    if (body.ended) return false;
    body.ended = true;
    body.drop();
    this.bytes -= body.size;
    this.pending.delete(body);
    return true;
  }

  close(): void {
    clearInterval(this.sweeper);
  }

  /** Oldest first, so the walk stops at the first one in time. */
  private sweep(): void {
    const deadline = performance.now() - this.timeoutMs;
    for (const body of this.pending) {
      if (body.startedAt > deadline) return;
      body.expire();
    }
  }
}
