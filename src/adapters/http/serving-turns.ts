/**
 * Limits how long one turn of the event loop serves requests. A connection may send hundreds of
 * requests in one piece, and a thousand connections may be readable at once. Requests beyond the
 * time of a turn wait for the next one, so that blocks, peers and timers run in between. What a body
 * says can make a request take many milliseconds, so requests without one do not wait behind those.
 * Requests with long bodies take long to read, so they wait behind all others, but each turn serves
 * one of them.
 *
 * The native server ends a connection that sends another request while one waits, so a client that
 * pipelines more than a turn serves loses its own connection and nothing else.
 */
const TURN_MS = 3;
/** Refusals may take a turn up to this time, since they cost little and should not wait. */
const REFUSALS_MS = 8;
/** A longer body takes milliseconds to read. */
const QUICK_BYTES = 16 * 1024;
/** Bytes of bodies in many pieces that one turn accepts: a MiB takes up to four milliseconds. */
const ARRIVING_BYTES = 4 * 1024 * 1024;
/** The most bytes that one connection passes on in one piece. */
const PIECE_BYTES = 512 * 1024;

type Work = () => void;

export class Serving {
  /**
   * Each connection has at most one request in all queues, so the limit of connections limits them.
   */
  private readonly refusals: Work[] = [];
  /** Without body. */
  private readonly bare: Work[] = [];
  private readonly quick: Work[] = [];
  private readonly slow: Work[] = [];
  /** Resume connections that were paused. */
  private readonly paused: Work[] = [];
  private arrived = 0;
  private scheduled = false;
  private ends = 0;

  /**
   * True while this turn has time for a request with such a body and no similar request waits;
   * otherwise the caller defers its work.
   */
  open(bodyBytes: number): boolean {
    const now = performance.now();
    if (!this.scheduled) this.begin(now);
    if (now >= this.ends) return false;
    const line = this.lineOf(bodyBytes);
    return line.length === 0 && (line !== this.slow || this.quick.length === 0);
  }

  private lineOf(bodyBytes: number): Work[] {
    if (bodyBytes === 0) return this.bare;
    return bodyBytes <= QUICK_BYTES ? this.quick : this.slow;
  }

  /** True while this turn has time for a refusal and no refusal waits. */
  openToRefuse(): boolean {
    const now = performance.now();
    if (!this.scheduled) this.begin(now);
    return now < this.ends + REFUSALS_MS && this.refusals.length === 0;
  }

  defer(bodyBytes: number, work: Work): void {
    this.lineOf(bodyBytes).push(work);
  }

  /** Refusals run before all other waiting work; they may take long where there are many. */
  deferRefusal(work: Work): void {
    this.refusals.push(work);
  }

  /** Counts a piece of a body; false where its connection must wait for the next turn. */
  arrive(bytes: number): boolean {
    if (!this.scheduled) this.begin(performance.now());
    this.arrived += bytes;
    return this.arrived < ARRIVING_BYTES;
  }

  /** `resume` runs once a turn has room for the next piece. */
  deferArrival(resume: Work): void {
    this.paused.push(resume);
  }

  private begin(now: number): void {
    this.scheduled = true;
    this.ends = now + TURN_MS;
    setImmediate(() => this.proceed());
  }

  private proceed(): void {
    this.scheduled = false;
    this.arrived = 0;
    const lines = [this.refusals, this.bare, this.quick, this.slow, this.paused];
    if (lines.every(({ length }) => length === 0)) return;
    const now = performance.now();
    this.begin(now);
    for (const resume of this.paused.splice(0, ARRIVING_BYTES / PIECE_BYTES)) resume();
    this.ends = now + REFUSALS_MS;
    this.run(this.refusals, 0);
    // However many there are of one sort, the others get their time.
    this.ends = performance.now() + TURN_MS;
    this.run(this.bare, 0);
    this.ends = performance.now() + TURN_MS;
    this.run(this.quick, 0);
    this.run(this.slow, 1);
  }

  /** Runs work while the turn has time, and at least this many. */
  private run(line: Work[], least: number): void {
    let done = 0;
    while (done < line.length && (done < least || performance.now() < this.ends)) line[done++]!();
    line.splice(0, done);
  }
}
