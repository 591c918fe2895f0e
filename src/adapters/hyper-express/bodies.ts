/** Bodies on their way in: their sum in memory and their time are bounded. */
const SWEEP_MS = 1_000;

export class PendingBody {
  readonly startedAt: number;
  readonly expire: () => void;
  ended = false;
  /** Bytes received and held. */
  size = 0;
  private chunks: Buffer[] = [];

  constructor(expire: () => void) {
    this.startedAt = performance.now();
    this.expire = expire;
  }

  /** The whole body once it is complete; a body in one piece is not copied. */
  add(chunk: ArrayBuffer, last: boolean): Uint8Array | undefined {
    const view = new Uint8Array(chunk);
    if (last && this.chunks.length === 0) return view;
    // The parser takes its buffer back after this call.
    this.chunks.push(Buffer.from(view));
    return last ? Buffer.concat(this.chunks) : undefined;
  }

  drop(): void {
    this.chunks = [];
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

  begin(expire: () => void): PendingBody {
    const body = new PendingBody(expire);
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
