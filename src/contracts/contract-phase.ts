/**
 * The second part of packing: the contract transactions (contracts.md#the-round-of-a-miner).
 *
 * Invariants: transactions of one contract are executed one after the other; while any is under
 * way, nothing but 105 and 106 is added to the draft, so what a contract reads outside the state of
 * contracts stands still; a result is not used where its run has read what changed meanwhile, so
 * every block is what some order of its runs gives; after the end nothing changes the draft.
 */
import type { Clock } from '../base/ports.ts';
import { createTurns, type Turns } from '../base/turns.ts';
import type { PoolEntry } from '../mempool/entry.ts';
import type { Then } from './conclude.ts';
import { ContractLine, type LineState } from './contract-line.ts';
import type { Begin, Started } from './contract-work.ts';
import type { ImageLoad } from './image-loads.ts';

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
}

/** Lines whose containers start are tried again this often, while others run. */
const COLD_MS = 25;
/** After so many stale results, the transaction is executed while nothing else is. */
const STALE_RUNS_MAX = 2;
/** Newcomers beyond this wait for the next block. */
const ENTRIES_MAX = 20_000;

interface Job {
  readonly line: ContractLine;
  readonly started: Started;
}

export class ContractPhase {
  private readonly options: PhaseOptions;
  private readonly ports: PhasePorts;
  private readonly turns: Turns;
  private readonly lines = new Map<string, ContractLine>();
  private ready: ContractLine[] = [];
  private cold: ContractLine[] = [];
  private readonly running = new Set<Job>();
  /** A line whose next transaction is executed alone. */
  private alone: ContractLine | undefined;
  private entries = 0;
  private pumping = false;
  private closed = false;
  private nextColdTry = 0;
  private finish: (failure?: unknown) => void = () => {};

  constructor(options: PhaseOptions, ports: PhasePorts) {
    this.options = options;
    this.ports = ports;
    this.turns = createTurns(ports.clock);
  }

  /** Takes a transaction in; they come in the order of the pool, or arrive while others run. */
  add(entry: PoolEntry): void {
    if (this.closed || this.entries >= ENTRIES_MAX) return;
    this.entries++;
    const key = this.ports.contractKey(entry);
    let line = this.lines.get(key);
    if (line === undefined) {
      line = new ContractLine(key);
      this.lines.set(key, line);
    }
    line.add(entry);
    if (line.state === 'empty') this.queue(line);
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
    const cancel = clock.after(this.options.deadline - clock.now(), () => this.end());
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
    for (const { started } of this.running) started.abandon(now);
    this.running.clear();
    this.finish();
  }

  private queue(line: ContractLine): void {
    line.state = 'ready';
    this.ready.push(line);
  }

  /** Begins as much as may run at once. */
  private pump(): void {
    if (this.pumping || this.closed) return;
    this.pumping = true;
    this.beginAll().catch((cause: unknown) => this.finish(cause));
  }

  private async beginAll(): Promise<void> {
    try {
      for (let line = this.take(); line !== undefined; line = this.take()) {
        this.advance(line);
        if (this.turns.due()) await this.turns.take();
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
    this.retryCold();
    return this.ready.shift();
  }

  private retryCold(): void {
    if (this.cold.length === 0) return;
    const now = this.ports.clock.monotonic();
    if (now < this.nextColdTry) return;
    this.nextColdTry = now + COLD_MS;
    const lines = this.cold;
    this.cold = [];
    for (const line of lines) this.queue(line);
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
    else if (step === 'cold') {
      this.rest(line, 'cold');
      this.cold.push(line);
    } else if (!begins) {
      this.rest(line, 'blocked');
      step.full.wait(line);
    } else {
      line.state = 'busy';
      const job = { line, started: step };
      this.running.add(job);
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
    if (this.alone === line) this.alone = undefined;
  }

  private async follow(job: Job): Promise<void> {
    const { line, started } = job;
    const settle = await started.ended;
    if (this.turns.due()) await this.turns.take();
    // The phase may have ended and abandoned it.
    if (!this.running.delete(job)) return;
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
      this.ready.push(line);
    } else if (++line.staleRuns < STALE_RUNS_MAX || this.alone !== undefined) {
      this.queue(line);
    } else {
      line.state = 'ready';
      this.alone = line;
    }
  }
}
