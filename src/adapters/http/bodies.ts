/**
 * Request bodies that are arriving. Their number for each client and in all, their sum in memory and
 * their time are limited. Above a limit, the oldest body of the client with the most bodies loses its
 * connection. Bodies that have only just begun are spared, so that many honest clients receive the
 * answer "overloaded" instead.
 */
import { clientOf } from '../../base/ip-range.ts';
import type { HttpServerOptions } from '../../base/ports/http.ts';
import { type BodyTally, ownTally } from './body-tally.ts';
import { LongBuffers } from './long-buffers.ts';

const SWEEP_MS = 1_000;
const SLOW_MS = 1_000;
/** A longer body counts as large. No connection passes on as much in one piece. */
const SMALL_BYTES_MAX = 1024 * 1024;
/** The garbage collector takes the memory of a shorter body. */
const SHORT_BYTES_MAX = 64 * 1024;
/** The memory of a longer body grows by this much. */
const STEP_BYTES = 512 * 1024;

export class PendingBody {
  readonly startedAt: number;
  readonly expire: () => void;
  private readonly addressOf: () => string;
  private knownClient: string | undefined;
  ended = false;
  /** Bytes received so far. */
  size = 0;
  /** Bytes reserved for the body. */
  held = 0;
  /** Bytes that the request has announced, or else the most that it may have. */
  private readonly bytesMax: number;
  readonly isLarge: boolean;
  private buffer: Buffer | undefined;
  private readonly longBuffers: LongBuffers;
  private long: ArrayBuffer | undefined;
  private filled = 0;

  constructor(
    bytesMax: number,
    longBuffers: LongBuffers,
    addressOf: () => string,
    expire: () => void,
  ) {
    this.longBuffers = longBuffers;
    this.startedAt = performance.now();
    this.bytesMax = bytesMax;
    this.isLarge = bytesMax > SMALL_BYTES_MAX;
    this.addressOf = addressOf;
    this.expire = expire;
  }

  /** Computed only when needed, since most bodies end before that. */
  get client(): string {
    this.knownClient ??= clientOf(this.addressOf());
    return this.knownClient;
  }

  /**
   * True where the body has its own memory; a body in one piece is a view of the parser's buffer.
   */
  get isOwn(): boolean {
    return this.filled > 0;
  }

  /** The whole body once it is complete. */
  add(chunk: ArrayBuffer | Uint8Array, last: boolean): Uint8Array | undefined {
    const view = chunk instanceof Uint8Array ? chunk : new Uint8Array(chunk);
    if (last && !this.isOwn) return view;
    // The parser reuses its buffer after this call.
    const buffer = this.roomFor(view.length);
    buffer.set(view, this.filled);
    this.filled += view.length;
    return last ? buffer.subarray(0, this.filled) : undefined;
  }

  private roomFor(bytes: number): Buffer {
    const needed = this.filled + bytes;
    const { buffer, bytesMax } = this;
    if (buffer !== undefined && buffer.length >= needed) return buffer;
    if (bytesMax <= SHORT_BYTES_MAX) {
      this.buffer = Buffer.allocUnsafeSlow(bytesMax);
      return this.buffer;
    }
    const length = Math.min(bytesMax, needed + STEP_BYTES);
    if (this.long === undefined) this.long = this.longBuffers.take(length);
    else this.longBuffers.grow(this.long, length);
    this.buffer = Buffer.from(this.long);
    return this.buffer;
  }

  /** Called when nothing reads the body any more. */
  drop(): void {
    if (this.long !== undefined) this.longBuffers.giveBack(this.long);
    this.long = undefined;
    this.buffer = undefined;
  }
}

export type BodyBounds = Required<
  Pick<
    HttpServerOptions,
    'maxBodyBytes' | 'smallBodyBytes' | 'maxBodies' | 'maxBodiesPerHost' | 'bodyTimeoutMs'
  >
>;

export class Bodies {
  private readonly bounds: BodyBounds;
  private readonly pending = new Set<PendingBody>();
  private readonly sweeper: NodeJS.Timeout;
  private readonly longBuffers: LongBuffers;
  private readonly tally: BodyTally;

  constructor(bounds: BodyBounds, tally: BodyTally = ownTally()) {
    this.bounds = bounds;
    this.tally = tally;
    this.longBuffers = new LongBuffers(bounds.maxBodyBytes);
    this.sweeper = setInterval(() => this.sweep(), Math.min(SWEEP_MS, bounds.bodyTimeoutMs));
    this.sweeper.unref();
  }

  /**
   * `bytesMax` is the length that the request states, or the limit where it states none. Undefined
   * where there is no room for another body.
   */
  begin(bytesMax: number, addressOf: () => string, expire: () => void): PendingBody | undefined {
    const body = new PendingBody(bytesMax, this.longBuffers, addressOf, expire);
    const { maxBodies, maxBodiesPerHost } = this.bounds;
    if (this.pending.size >= maxBodiesPerHost) {
      const ofClient = [...this.pending].filter(({ client }) => client === body.client);
      if (ofClient.length >= maxBodiesPerHost && !this.endSlowest(ofClient)) return undefined;
      if (this.pending.size >= maxBodies && !this.endSlowest(this.ofBusiestClient(count)))
        return undefined;
    }
    this.pending.add(body);
    // A large body without room is refused before it arrives; small ones are counted as they
    // arrive.
    if (!body.isLarge || this.hold(body, bytesMax)) return body;
    this.release(body);
    return undefined;
  }

  /** Counts more bytes; false where all bodies together would need too much memory. */
  reserve(body: PendingBody, bytes: number): boolean {
    const missing = body.size + bytes - body.held;
    if (missing > 0 && !this.hold(body, missing)) return false;
    body.size += bytes;
    return true;
  }

  private hold(body: PendingBody, bytes: number): boolean {
    const { maxBodyBytes, smallBodyBytes } = this.bounds;
    const largeMax = body.isLarge ? maxBodyBytes - smallBodyBytes : Number.POSITIVE_INFINITY;
    const largeBytes = body.isLarge ? bytes : 0;
    while (!this.tally.take(bytes, largeBytes, maxBodyBytes, largeMax)) {
      const others = this.ofBusiestClient(({ held }) => held).filter(
        (other) => other !== body && (!body.isLarge || other.isLarge),
      );
      if (!this.endSlowest(others)) return false;
    }
    body.held += bytes;
    return true;
  }

  /** The body is complete, or never will be: its time no longer counts, but its bytes do. */
  complete(body: PendingBody): void {
    body.ended = true;
    this.pending.delete(body);
  }

  /** Returns its bytes to the limit, once. */
  release(body: PendingBody): void {
    this.complete(body);
    body.drop();
    this.tally.giveBack(body.held, body.isLarge ? body.held : 0);
    body.held = 0;
  }

  close(): void {
    clearInterval(this.sweeper);
    this.longBuffers.close();
  }

  /** Ends the oldest of them, unless even that one has only just begun. */
  private endSlowest([oldest]: readonly PendingBody[]): boolean {
    if (oldest === undefined || performance.now() - oldest.startedAt < SLOW_MS) return false;
    this.release(oldest);
    oldest.expire();
    return true;
  }

  /** The bodies of the client with the most by this measure, oldest first. */
  private ofBusiestClient(measure: (body: PendingBody) => number): PendingBody[] {
    const clients = new Map<string, { sum: number; bodies: PendingBody[] }>();
    for (const body of this.pending) {
      const of = clients.get(body.client) ?? { sum: 0, bodies: [] };
      of.sum += measure(body);
      of.bodies.push(body);
      clients.set(body.client, of);
    }
    const [busiest] = [...clients.values()].sort((a, b) => b.sum - a.sum);
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
