/**
 * The second part of packing: the contract transactions (contracts.md#the-round-of-a-miner).
 *
 * Invariants: transactions of one contract are executed one after the other; while any is under
 * way, nothing but 105 and 106 is added to the draft, so what a contract reads outside the state of
 * contracts stands still; a result is not used where its run has read what changed meanwhile, so
 * every block is what some order of its runs gives; after the end nothing changes the draft.
 */
import { roundLimits as limits } from '../base/limits/round-limits.ts';
import type { Clock } from '../base/ports/clock.ts';
import { FairSemaphore } from '../concurrency/fair-semaphore.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import type { PoolEntry } from '../mempool/entries/entry.ts';
import { callContract } from '../tx/types/104-call-contract.ts';
import type { Then } from './execution/conclude.ts';
import type { Begin, Started } from './execution/contract-work.ts';
import type { ImageLoad } from './images/image-loads.ts';
import { ColdQueues } from './waiting/cold-queues.ts';
import { ContractQueue, type PlaceOf, type QueueState } from './waiting/contract-queue.ts';
import { createPhaseIntake } from './waiting/phase-intake.ts';

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
  /** Absent: the pool has none in doubt. */
  readonly placeOf?: PlaceOf | undefined;
}

/** After so many stale results, the transaction is executed while nothing else is. */
const STALE_RUNS_MAX = limits.stale.value;
/** The part of a phase that the contracts of one creator may take alone, with the wait for it. */
const ALONE_SHARE = limits.alone.value;
/** The same of all creators together. */
const ALONE_SHARE_OF_ALL = limits.aloneOfAll.value;

interface Job {
  readonly queue: ContractQueue;
  readonly started: Started;
}

export class ContractPhase {
  private readonly options: PhaseOptions;
  private readonly ports: PhasePorts;
  private readonly slice: TimeSlice;
  private readonly queues = new Map<string, ContractQueue>();
  private readonly slots: FairSemaphore<ContractQueue>;
  private readonly cold: ColdQueues<ContractQueue>;
  private readonly intake = createPhaseIntake();
  private readonly running = new Set<Job>();
  /** A queue whose next transaction is executed alone. */
  private alone: ContractQueue | undefined;
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
    this.cold = new ColdQueues(ports.clock);
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

  /** A queue has all of them before its first one is chosen, which may give way to the others. */
  private enter(entries: readonly PoolEntry[]): void {
    const queues = new Set(entries.map((entry) => this.place(entry)));
    for (const queue of queues) if (queue?.state === 'empty') this.enqueue(queue);
  }

  private place(entry: PoolEntry): ContractQueue | undefined {
    if (this.closed) return undefined;
    const key = this.ports.contractKey(entry);
    let queue = this.queues.get(key);
    if (queue?.state === 'stopped' || !this.ports.isDue(key, entry)) return undefined;
    if (!this.intake.offer(entry, key, this.endsCalls(entry))) return undefined;
    if (queue === undefined) {
      const left = (done: PoolEntry): void => this.intake.leave(done, key);
      const yields = (waiting: PoolEntry): boolean => this.ports.yields(key, waiting);
      const owner = this.ports.ownerOf(key, entry);
      queue = new ContractQueue(key, owner, left, yields, this.ports.placeOf);
      this.queues.set(key, queue);
    }
    queue.add(entry);
    return queue;
  }

  /** In doubt it keeps its place; otherwise calls without end would put off the end of a contract. */
  private endsCalls(entry: PoolEntry): boolean {
    const place = this.ports.placeOf?.(entry) ?? Number.POSITIVE_INFINITY;
    return entry.def.type !== callContract.type && place < Number.POSITIVE_INFINITY;
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

  private enqueue(queue: ContractQueue): void {
    queue.state = 'ready';
    const entry = queue.next();
    const yields = entry !== undefined && this.ports.yields(queue.key, entry);
    this.slots.add(queue.owner, queue, yields);
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
        const queue = this.take();
        if (queue === undefined) break;
        this.advance(queue);
        if (this.slice.isOver()) await this.slice.yield();
      }
    } finally {
      this.pumping = false;
    }
    if (!this.closed && this.running.size === 0) this.end();
  }

  /** The next queue of which something may begin now. */
  private take(): ContractQueue | undefined {
    if (this.closed || this.running.size >= this.options.parallelism) return undefined;
    if (this.alone !== undefined) return this.running.size === 0 ? this.alone : undefined;
    const queue = this.slots.next();
    if (queue !== undefined) return queue;
    for (const waiting of this.cold.due()) this.enqueue(waiting);
    return this.slots.next();
  }

  private advance(queue: ContractQueue): void {
    const entry = queue.next();
    if (entry === undefined) {
      this.rest(queue, 'empty');
      this.passTurn(queue);
      return;
    }
    const left = this.options.deadline - this.ports.clock.now();
    const step = this.ports.begin(queue, entry, left);
    const begins = typeof step === 'object' && 'ended' in step;
    if (begins && step.load === queue.turn) queue.turn = undefined;
    if (step !== 'next') this.passTurn(queue);
    if (step === 'next' || step === 'stop') this.proceed(queue, step);
    else if ('cold' in step) {
      this.rest(queue, 'cold');
      this.cold.add(step.cold, queue);
    } else if (!begins) {
      this.rest(queue, 'blocked');
      step.full.wait(queue, queue.owner);
    } else {
      queue.state = 'busy';
      const job = { queue, started: step };
      this.running.add(job);
      this.slots.take(queue.owner);
      for (const waiting of this.cold.isWarm(step.image)) this.enqueue(waiting);
      this.follow(job).catch((cause: unknown) => this.finish(cause));
    }
  }

  /** A container has room for a run again: the queue that has waited longest may use it. */
  private giveTurn(load: ImageLoad<ContractQueue> | undefined): void {
    // Another queue was faster: otherwise the turn would go round among those that wait.
    if (load === undefined || load.isFull) return;
    const queue = load.next();
    if (queue === undefined) return;
    queue.turn = load;
    this.enqueue(queue);
  }

  /** A queue that does not use the room of a container leaves it to the next one. */
  private passTurn(queue: ContractQueue): void {
    const load = queue.turn;
    queue.turn = undefined;
    this.giveTurn(load);
  }

  /** Lets the queue wait; nobody waits for it meanwhile. */
  private rest(queue: ContractQueue, state: QueueState): void {
    queue.state = state;
    if (state === 'stopped') queue.clear();
    if (this.alone === queue) this.endAlone();
  }

  /**
   * Nothing else begins until the queue has been executed. Its creator has a limited time for that,
   * in which what runs ends too, and so have all creators together.
   */
  private runAlone(queue: ContractQueue): void {
    const { clock } = this.ports;
    const ofOwner = this.aloneMs.get(queue.owner) ?? this.aloneMsMax;
    // A creator gets its whole share: a call that others had left too little for would count as one
    // that takes too long.
    if (ofOwner <= 0 || this.aloneMsOfAll < ofOwner) {
      this.rest(queue, 'stopped');
      return;
    }
    queue.state = 'ready';
    this.alone = queue;
    const began = clock.monotonic();
    const cancel = clock.after(ofOwner, () => this.aloneTooLong(queue));
    this.endAlone = () => {
      cancel();
      const took = clock.monotonic() - began;
      this.aloneMs.set(queue.owner, ofOwner - took);
      this.aloneMsOfAll -= took;
      this.alone = undefined;
      this.endAlone = () => {};
    };
  }

  private aloneTooLong(queue: ContractQueue): void {
    for (const job of this.running) {
      if (job.queue !== queue) continue;
      // Its container stays busy, so what waits for it waits for the next block.
      job.started.abandon(false);
      this.running.delete(job);
      this.slots.release(queue.owner);
    }
    this.rest(queue, 'stopped');
    this.pump();
  }

  private async follow(job: Job): Promise<void> {
    const { queue, started } = job;
    const settle = await started.ended;
    if (this.slice.isOver()) await this.slice.yield();
    // The phase may have ended and abandoned it.
    if (!this.running.delete(job)) return;
    this.slots.release(queue.owner);
    started.load?.end();
    this.giveTurn(started.load);
    this.proceed(queue, settle());
    this.pump();
  }

  private proceed(queue: ContractQueue, then: Then | 'again'): void {
    if (then === 'stop') {
      this.rest(queue, 'stopped');
    } else if (then === 'next') {
      this.rest(queue, 'ready');
      queue.skip();
      this.enqueue(queue);
    } else if (++queue.staleRuns < STALE_RUNS_MAX || this.alone !== undefined) {
      this.enqueue(queue);
    } else {
      this.runAlone(queue);
    }
  }
}
