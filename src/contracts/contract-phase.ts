/**
 * The second part of packing: the contract transactions (contracts.md#the-round-of-a-miner).
 *
 * Invariants: transactions of one contract are executed one after the other; while any is under
 * way, nothing but 105 and 106 is added to the draft, so what a contract reads outside the state of
 * contracts stands still; a result is not used where its run has read what changed meanwhile, so
 * every block is what some order of its runs gives; after the end nothing changes the draft.
 */
import type { Clock } from '../base/ports.ts';
import { roundLimits as limits } from '../base/round-limits.ts';
import { FairSemaphore } from '../concurrency/fair-semaphore.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import type { PoolEntry } from '../mempool/entry.ts';
import { ColdLines } from './cold-lines.ts';
import type { Then } from './conclude.ts';
import { ContractLine, type LineState } from './contract-line.ts';
import type { Begin, Started } from './contract-work.ts';
import type { ImageLoad } from './image-loads.ts';
import { createPhaseIntake } from './phase-intake.ts';

export interface PhaseOptions {
  /** Runs at once. */
  readonly parallelism: number;
  /** The time of day at which the phase ends, whatever still runs. */
  readonly deadline: number;
}

export interface PhasePorts {
  readonly clock: Clock;
  readonly begin: Begin;
  /** The contract that an entry concerns, as Latin-1 text. */
  readonly contractKey: (entry: PoolEntry) => string;
  /** The creator of a contract; what is not known yet belongs to the sender. */
  readonly ownerOf: (contract: string, entry: PoolEntry) => string;
  /** False for what must not be executed in this block. */
  readonly isDue: (contract: string, entry: PoolEntry) => boolean;
  /** True where the transaction gives way to those of other creators. */
  readonly yields: (contract: string, entry: PoolEntry) => boolean;
}

/** After so many stale results, the transaction is executed while nothing else is. */
const STALE_RUNS_MAX = limits.stale.value;
/** The part of a phase that the contracts of one creator may take alone, with the wait for it. */
const ALONE_SHARE = limits.alone.value;
/** The same of all creators together. */
const ALONE_SHARE_OF_ALL = limits.aloneOfAll.value;

interface Job {
  readonly line: ContractLine;
  readonly started: Started;
}

export class ContractPhase {
  private readonly options: PhaseOptions;
  private readonly ports: PhasePorts;
  private readonly slice: TimeSlice;
  private readonly lines = new Map<string, ContractLine>();
  private readonly slots: FairSemaphore<ContractLine>;
  private readonly cold: ColdLines<ContractLine>;
  private readonly intake = createPhaseIntake();
  private readonly running = new Set<Job>();
  /** A line whose next transaction is executed alone. */
  private alone: ContractLine | undefined;
  private readonly aloneMs = new Map<string, number>();
  private aloneMsMax = 0;
  /** What is left for all creators. */
  private aloneMsOfAll = 0;
  private endAlone = (): void => {};
  private pumping = false;
  private closed = false;
  private finish: (failure?: unknown) => void = () => {};

  constructor(options: PhaseOptions, ports: PhasePorts) {
    this.options = options;
    this.ports = ports;
    this.slice = new TimeSlice(ports.clock);
    this.slots = new FairSemaphore(options.parallelism);
    this.cold = new ColdLines(ports.clock);
  }

  /** Takes in what waits, in the order of the pool. */
  addAll(entries: readonly PoolEntry[]): void {
    this.intake.share(entries);
    this.enter(entries);
  }

  /** Takes a transaction in; they come in the order of the pool, or arrive while others run. */
  add(entry: PoolEntry): void {
    this.enter([entry]);
  }

  /** A line has all of them before its first one is chosen, which may give way to the others. */
  private enter(entries: readonly PoolEntry[]): void {
    const lines = new Set(entries.map((entry) => this.place(entry)));
    for (const line of lines) if (line?.state === 'empty') this.queue(line);
  }

  private place(entry: PoolEntry): ContractLine | undefined {
    if (this.closed) return undefined;
    const key = this.ports.contractKey(entry);
    let line = this.lines.get(key);
    if (line?.state === 'stopped' || !this.ports.isDue(key, entry)) return undefined;
    if (!this.intake.offer(entry, key)) return undefined;
    if (line === undefined) {
      const left = (done: PoolEntry): void => this.intake.leave(done, key);
      const yields = (waiting: PoolEntry): boolean => this.ports.yields(key, waiting);
      line = new ContractLine(key, this.ports.ownerOf(key, entry), left, yields);
      this.lines.set(key, line);
    }
    line.add(entry);
    return line;
  }

  /** A transaction has arrived while the phase is under way. */
  arrived(entry: PoolEntry): void {
    this.add(entry);
    this.pump();
  }

  /** Resolves when nothing more can be executed, or at the deadline. */
  async run(): Promise<void> {
    const { clock } = this.ports;
    const ended = new Promise<void>((resolve, reject) => {
      this.finish = (failure) => (failure === undefined ? resolve() : reject(failure));
    });
    const lengthMs = this.options.deadline - clock.now();
    this.aloneMsMax = lengthMs / ALONE_SHARE;
    this.aloneMsOfAll = lengthMs / ALONE_SHARE_OF_ALL;
    const cancel = clock.after(lengthMs, () => this.end());
    this.pump();
    try {
      await ended;
    } finally {
      cancel();
      this.end();
    }
  }

  /** Ends the phase; what still runs is abandoned, with `now` at once. */
  end(now = false): void {
    if (this.closed) return;
    this.closed = true;
    this.endAlone();
    for (const { started } of this.running) started.abandon(now);
    this.running.clear();
    this.finish();
  }

  private queue(line: ContractLine): void {
    line.state = 'ready';
    const entry = line.next();
    const yields = entry !== undefined && this.ports.yields(line.key, entry);
    this.slots.add(line.owner, line, yields);
  }

  /** Begins as much as may run at once. */
  private pump(): void {
    if (this.pumping || this.closed) return;
    this.pumping = true;
    this.beginAll().catch((cause: unknown) => this.finish(cause));
  }

  private async beginAll(): Promise<void> {
    try {
      for (;;) {
        this.enter(this.intake.again());
        const line = this.take();
        if (line === undefined) break;
        this.advance(line);
        if (this.slice.isOver()) await this.slice.yield();
      }
    } finally {
      this.pumping = false;
    }
    if (!this.closed && this.running.size === 0) this.end();
  }

  /** The next line of which something may begin now. */
  private take(): ContractLine | undefined {
    if (this.closed || this.running.size >= this.options.parallelism) return undefined;
    if (this.alone !== undefined) return this.running.size === 0 ? this.alone : undefined;
    const line = this.slots.next();
    if (line !== undefined) return line;
    for (const waiting of this.cold.due()) this.queue(waiting);
    return this.slots.next();
  }

  private advance(line: ContractLine): void {
    const entry = line.next();
    if (entry === undefined) {
      this.rest(line, 'empty');
      this.passTurn(line);
      return;
    }
    const left = this.options.deadline - this.ports.clock.now();
    const step = this.ports.begin(line, entry, left);
    const begins = typeof step === 'object' && 'ended' in step;
    if (begins && step.load === line.turn) line.turn = undefined;
    if (step !== 'next') this.passTurn(line);
    if (step === 'next' || step === 'stop') this.proceed(line, step);
    else if ('cold' in step) {
      this.rest(line, 'cold');
      this.cold.add(step.cold, line);
    } else if (!begins) {
      this.rest(line, 'blocked');
      step.full.wait(line, line.owner);
    } else {
      line.state = 'busy';
      const job = { line, started: step };
      this.running.add(job);
      this.slots.take(line.owner);
      for (const waiting of this.cold.isWarm(step.image)) this.queue(waiting);
      this.follow(job).catch((cause: unknown) => this.finish(cause));
    }
  }

  /** A container has room for a run again: the line that has waited longest may use it. */
  private giveTurn(load: ImageLoad<ContractLine> | undefined): void {
    // Another line was faster: otherwise the turn would go round among those that wait.
    if (load === undefined || load.isFull) return;
    const line = load.next();
    if (line === undefined) return;
    line.turn = load;
    this.queue(line);
  }

  /** A line that does not use the room of a container leaves it to the next one. */
  private passTurn(line: ContractLine): void {
    const load = line.turn;
    line.turn = undefined;
    this.giveTurn(load);
  }

  /** Lets the line wait; nobody waits for it meanwhile. */
  private rest(line: ContractLine, state: LineState): void {
    line.state = state;
    if (state === 'stopped') line.clear();
    if (this.alone === line) this.endAlone();
  }

  /**
   * Nothing else begins until the line has been executed. Its creator has a limited time for that,
   * in which what runs ends too, and so have all creators together.
   */
  private runAlone(line: ContractLine): void {
    const { clock } = this.ports;
    const ofOwner = this.aloneMs.get(line.owner) ?? this.aloneMsMax;
    // A creator gets its whole share: a call that others had left too little for would count as one
    // that takes too long.
    if (ofOwner <= 0 || this.aloneMsOfAll < ofOwner) {
      this.rest(line, 'stopped');
      return;
    }
    line.state = 'ready';
    this.alone = line;
    const began = clock.monotonic();
    const cancel = clock.after(ofOwner, () => this.aloneTooLong(line));
    this.endAlone = () => {
      cancel();
      const took = clock.monotonic() - began;
      this.aloneMs.set(line.owner, ofOwner - took);
      this.aloneMsOfAll -= took;
      this.alone = undefined;
      this.endAlone = () => {};
    };
  }

  private aloneTooLong(line: ContractLine): void {
    for (const job of this.running) {
      if (job.line !== line) continue;
      // Its container stays busy, so what waits for it waits for the next block.
      job.started.abandon(false);
      this.running.delete(job);
      this.slots.release(line.owner);
    }
    this.rest(line, 'stopped');
    this.pump();
  }

  private async follow(job: Job): Promise<void> {
    const { line, started } = job;
    const settle = await started.ended;
    if (this.slice.isOver()) await this.slice.yield();
    // The phase may have ended and abandoned it.
    if (!this.running.delete(job)) return;
    this.slots.release(line.owner);
    started.load?.end();
    this.giveTurn(started.load);
    this.proceed(line, settle());
    this.pump();
  }

  private proceed(line: ContractLine, then: Then | 'again'): void {
    if (then === 'stop') {
      this.rest(line, 'stopped');
    } else if (then === 'next') {
      this.rest(line, 'ready');
      line.skip();
      this.queue(line);
    } else if (++line.staleRuns < STALE_RUNS_MAX || this.alone !== undefined) {
      this.queue(line);
    } else {
      this.runAlone(line);
    }
  }
}
