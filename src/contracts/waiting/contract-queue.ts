/**
 * The waiting transactions of one contract, in the order of the pool, but for calls that give way to
 * those of other senders. They are executed strictly one after the other.
 */
import { latin1 } from '../../base/bytes.ts';
import type { PoolEntry } from '../../mempool/entries/entry.ts';
import type { Tx } from '../../tx/transaction.ts';
import { createContract } from '../../tx/types/103-create-contract.ts';
import { callContract } from '../../tx/types/104-call-contract.ts';
import { disableContract } from '../../tx/types/106-disable-contract.ts';
import { updateContract } from '../../tx/types/107-update-contract.ts';
import type { ImageLoad } from '../images/image-loads.ts';

/** True for the transactions that a contract executes, and for the one that ends it. */
export function concernsContract(entry: PoolEntry): boolean {
  return isExecutable(entry) || entry.def.type === disableContract.type;
}

/**
 * True for an atomic transaction that ends a contract. It may end several, so it is in the queue of
 * none, and follows all their calls.
 */
export const endsAmongOthers = ({ memberTypes }: PoolEntry): boolean =>
  memberTypes?.has(disableContract.type) === true;

/** True for what is executed by itself. */
export const isExecutable = (entry: PoolEntry): boolean => entry.def.executable === true;

/** True for an atomic transaction with contract transactions, which are executed with it. */
export const isExecutableGroup = ({ memberTypes }: PoolEntry): boolean =>
  memberTypes !== undefined && EXECUTABLE.some((type) => memberTypes.has(type));

/** True for what only a miner with an engine can put into a block. */
export const needsEngine = (entry: PoolEntry): boolean =>
  isExecutable(entry) || isExecutableGroup(entry);

const EXECUTABLE = [createContract.type, callContract.type, updateContract.type];

/** 00 | type | version */
const HEAD_BYTES = 3;
const LENGTH_BYTES = 2;

/**
 * The contract that a transaction concerns, as Latin-1 text, read from its bytes: a block has
 * thousands of them, and most wait for a later block. In every layout of 104, 106 and 107 the
 * contract follows the key of the sender; a creation is its own contract.
 */
export function contractKeyOf({ bytes, key, def }: PoolEntry, publicKeySize: number): string {
  if (def.type === createContract.type) return key;
  const at = HEAD_BYTES + publicKeySize;
  const length = bytes[at]! * 256 + bytes[at + 1]!;
  return latin1(bytes.subarray(at + LENGTH_BYTES, at + LENGTH_BYTES + length));
}

export type QueueState =
  /** Nothing waits. */
  | 'empty'
  /** In the queue of the phase. */
  | 'ready'
  /** A transaction of it is executed. */
  | 'busy'
  /** Its container starts. */
  | 'cold'
  /** Its container executes transactions of other contracts. */
  | 'blocked'
  /** Nothing more of it gets into this block. */
  | 'stopped';

/**
 * The place of an entry that the pool has in doubt, whose order is that of their chain and not of their
 * times; infinite for all others, which come behind them.
 */
export type PlaceOf = (entry: PoolEntry) => number;

const nowhere: PlaceOf = () => Number.POSITIVE_INFINITY;

export class ContractQueue {
  /** Contract id as Latin-1 text. */
  readonly key: string;
  /** The creator of the contract, who shares the places of the phase with others. */
  readonly owner: string;
  state: QueueState = 'empty';
  /** How often the next transaction was executed on state that changed meanwhile. */
  staleRuns = 0;
  /** Set while the queue may use the room that a container has again. */
  turn: ImageLoad<ContractQueue> | undefined;
  private waiting: PoolEntry[] = [];
  private at = 0;
  /** Calls that have given way, which they do once. */
  private behind: PoolEntry[] = [];
  /** How many of them are in doubt. */
  private doubted = 0;
  private readonly yielded = new Set<PoolEntry>();
  private decoded: { readonly entry: PoolEntry; readonly tx: Tx } | undefined;

  private readonly left: (entry: PoolEntry) => void;
  private readonly yields: (entry: PoolEntry) => boolean;
  private readonly placeOf: PlaceOf;

  /** `left` is told each transaction with which the queue is done. */
  constructor(
    key: string,
    owner = '',
    left: (entry: PoolEntry) => void = () => {},
    yields: (entry: PoolEntry) => boolean = () => false,
    placeOf: PlaceOf = nowhere,
  ) {
    this.key = key;
    this.owner = owner;
    this.left = left;
    this.yields = yields;
    this.placeOf = placeOf;
  }

  /** In pool order; newcomers mostly come last. */
  add(entry: PoolEntry): void {
    // What is executed stays the first.
    const first = this.state === 'busy' ? this.at + 1 : this.at;
    let place = this.waiting.length;
    while (place > first && this.isBefore(entry, this.waiting[place - 1]!)) place--;
    if (place === this.waiting.length) this.waiting.push(entry);
    else this.waiting.splice(place, 0, entry);
  }

  /** The next transaction that is still in the pool. */
  next(): PoolEntry | undefined {
    for (;;) {
      this.bringBack();
      const entry = this.waiting[this.at] ?? this.fromBehind();
      if (entry === undefined) return undefined;
      if (entry.removed) this.skip();
      else if (this.mayStay(entry)) return entry;
      else {
        this.yielded.add(entry);
        this.behind.push(entry);
        if (this.isInDoubt(entry)) this.doubted++;
        this.pass();
      }
    }
  }

  skip(): void {
    const skipped = this.waiting[this.at];
    this.pass();
    if (skipped === undefined) return;
    this.yielded.delete(skipped);
    this.left(skipped);
  }

  /** Gives up what waits. */
  clear(): void {
    while (this.at < this.waiting.length || this.fromBehind() !== undefined) this.skip();
  }

  private isInDoubt(entry: PoolEntry): boolean {
    return this.placeOf(entry) < Number.POSITIVE_INFINITY;
  }

  private isBefore(a: PoolEntry, b: PoolEntry): boolean {
    const [placeOfA, placeOfB] = [this.placeOf(a), this.placeOf(b)];
    if (placeOfA !== placeOfB) return placeOfA < placeOfB;
    return a.timestamp < b.timestamp || (a.timestamp === b.timestamp && a.key < b.key);
  }

  private mayStay(entry: PoolEntry): boolean {
    return entry.def.type !== callContract.type || this.yielded.has(entry) || !this.yields(entry);
  }

  private pass(): void {
    this.at++;
    this.staleRuns = 0;
    this.decoded = undefined;
    if (this.at < this.waiting.length) return;
    this.waiting = [];
    this.at = 0;
  }

  /** What is in doubt gives way to other calls, and not to what ends them, which comes behind it. */
  private bringBack(): void {
    const first = this.doubted === 0 ? undefined : this.waiting[this.at];
    if (first === undefined || first.def.type === callContract.type) return;
    const isEarlier = (entry: PoolEntry): boolean => this.placeOf(entry) < this.placeOf(first);
    const earlier = this.behind.filter(isEarlier);
    if (earlier.length === 0) return;
    this.doubted -= earlier.length;
    this.behind = this.behind.filter((entry) => !isEarlier(entry));
    this.waiting.splice(this.at, 0, ...earlier);
  }

  /** One at a time, so that what arrives meanwhile comes next. */
  private fromBehind(): PoolEntry | undefined {
    const entry = this.behind.shift();
    if (entry === undefined) return undefined;
    if (this.isInDoubt(entry)) this.doubted--;
    this.waiting.push(entry);
    return entry;
  }

  /** Decodes the next transaction once, however often the queue has to wait. */
  decode(entry: PoolEntry, decode: (entry: PoolEntry) => Tx): Tx {
    if (this.decoded?.entry !== entry) this.decoded = { entry, tx: decode(entry) };
    return this.decoded.tx;
  }
}
