/**
 * Request bodies that are arriving. Their number for each host and in all, their sum in memory and
 * their time are limited. Above a limit, the oldest body of the host with the most bodies loses its
 * connection. Bodies that have only just begun are spared, so that many honest clients receive the
 * answer "overloaded" instead.
 */
import { BODY_VIEW_BYTES } from '../../base/http.ts';

const SWEEP_MS = 1_000;
const SLOW_MS = 1_000;
const FIRST_BYTES = 1024 * 1024;
/** A longer body is a large one. */
const SMALL_BYTES_MAX = 1024 * 1024;

export class PendingBody {
  readonly startedAt: number;
  readonly expire: () => void;
  private readonly hostOf: () => string;
  private knownHost: string | undefined;
  ended = false;
  /** Bytes received so far. */
  size = 0;
  /** Bytes that the request has announced; 0 where it has not. */
  private readonly announced: number;
  private buffer: Buffer | undefined;
  private filled = 0;

  constructor(announced: number, hostOf: () => string, expire: () => void) {
    this.startedAt = performance.now();
    this.announced = announced;
    this.hostOf = hostOf;
    this.expire = expire;
  }

  /** Computed only when needed, since most bodies end before that. */
  get host(): string {
    this.knownHost ??= this.hostOf();
    return this.knownHost;
  }

  get isLarge(): boolean {
    return this.size > SMALL_BYTES_MAX;
  }

  /** The whole body once it is complete; a short one in one piece is not copied. */
  add(chunk: ArrayBuffer, last: boolean): Uint8Array | undefined {
    const view = new Uint8Array(chunk);
    if (last && this.filled === 0 && view.length <= BODY_VIEW_BYTES) return view;
    // The parser reuses its buffer after this call.
    const buffer = this.roomFor(view.length);
    buffer.set(view, this.filled);
    this.filled += view.length;
    return last ? buffer.subarray(0, this.filled) : undefined;
  }

  /**
   * Doubles the buffer, up to the announced size: an announced size is not allocated before the
   * bytes arrive.
   */
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

export interface BodyBounds {
  readonly maxBodyBytes: number;
  /** The part of `maxBodyBytes` that large bodies leave to small ones. */
  readonly smallBodyBytes: number;
  readonly maxBodies: number;
  readonly maxBodiesPerHost: number;
  readonly bodyTimeoutMs: number;
}

export class Bodies {
  private readonly bounds: BodyBounds;
  private readonly pending = new Set<PendingBody>();
  private readonly sweeper: NodeJS.Timeout;
  private bytes = 0;
  /** Those of large bodies. */
  private largeBytes = 0;

  constructor(bounds: BodyBounds) {
    this.bounds = bounds;
    this.sweeper = setInterval(() => this.sweep(), Math.min(SWEEP_MS, bounds.bodyTimeoutMs));
    this.sweeper.unref();
  }

  /**
   * `announced` is the length that the request states, within the limit; 0 where it states none.
   * Undefined where there is no room for another body.
   */
  begin(announced: number, hostOf: () => string, expire: () => void): PendingBody | undefined {
    const body = new PendingBody(announced, hostOf, expire);
    const { maxBodies, maxBodiesPerHost } = this.bounds;
    if (this.pending.size >= maxBodiesPerHost) {
      const ofHost = [...this.pending].filter(({ host }) => host === body.host);
      if (ofHost.length >= maxBodiesPerHost && !this.endSlowest(ofHost)) return undefined;
      if (this.pending.size >= maxBodies && !this.endSlowest(this.ofBusiestHost(count)))
        return undefined;
    }
    this.pending.add(body);
    return body;
  }

  /** False when all bodies together, or all large ones, would need too much memory. */
  reserve(body: PendingBody, bytes: number): boolean {
    const large = body.size + bytes > SMALL_BYTES_MAX;
    while (!this.hasRoom(body, bytes)) {
      const others = this.ofBusiestHost(({ size }) => size).filter(
        (other) => other !== body && (!large || other.isLarge),
      );
      if (!this.endSlowest(others)) return false;
    }
    this.bytes += bytes;
    if (large) this.largeBytes += body.isLarge ? bytes : body.size + bytes;
    body.size += bytes;
    return true;
  }

  private hasRoom({ isLarge, size }: PendingBody, bytes: number): boolean {
    const { maxBodyBytes, smallBodyBytes } = this.bounds;
    if (this.bytes + bytes > maxBodyBytes) return false;
    if (size + bytes <= SMALL_BYTES_MAX) return true;
    const more = isLarge ? bytes : size + bytes;
    return this.largeBytes + more <= maxBodyBytes - smallBodyBytes;
  }

  /** False if the body had already ended. */
  end(body: PendingBody): boolean {
    if (body.ended) return false;
    body.ended = true;
    body.drop();
    this.bytes -= body.size;
    if (body.isLarge) this.largeBytes -= body.size;
    this.pending.delete(body);
    return true;
  }

  close(): void {
    clearInterval(this.sweeper);
  }

  /** Ends the oldest of them, unless even that one has only just begun. */
  private endSlowest([oldest]: readonly PendingBody[]): boolean {
    if (oldest === undefined || performance.now() - oldest.startedAt < SLOW_MS) return false;
    this.end(oldest);
    oldest.expire();
    return true;
  }

  /** The bodies of the host with the most by this measure, oldest first. */
  private ofBusiestHost(measure: (body: PendingBody) => number): PendingBody[] {
    const hosts = new Map<string, { sum: number; bodies: PendingBody[] }>();
    for (const body of this.pending) {
      const of = hosts.get(body.host) ?? { sum: 0, bodies: [] };
      of.sum += measure(body);
      of.bodies.push(body);
      hosts.set(body.host, of);
    }
    const [busiest] = [...hosts.values()].sort((a, b) => b.sum - a.sum);
    return busiest?.bodies ?? [];
  }

  /** Oldest first, so the loop stops at the first body that is in time. */
  private sweep(): void {
    const deadline = performance.now() - this.bounds.bodyTimeoutMs;
    for (const body of this.pending) {
      if (body.startedAt > deadline) return;
      body.expire();
    }
  }
}

const count = (): number => 1;
