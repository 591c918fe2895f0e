/**
 * Checks transactions and puts them into the pool (mempool.md#admission).
 *
 * Invariants: an entry was valid on the head when it was accepted, together with the other entries of
 * its sender; it is on disk before `submit` resolves; the first proofs for an id stay (H-18: proofs
 * are not part of the id).
 */

import { assert } from '../../base/assert.ts';
import { base58 } from '../../base/base58.ts';
import { equal, latin1 } from '../../base/bytes.ts';
import { type ApiError, apiError, refused } from '../../base/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Journal } from '../../base/ports/journal.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Verifier } from '../../base/ports/verifier.ts';
import type { ScriptTime } from '../../chain/apply/script-time.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { refusalFrom } from '../../codec/refusal.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { withMembers } from '../../tx/members.ts';
import { checkProofs, type ProofVerdicts } from '../../tx/proof-verdicts.ts';
import type { Tx } from '../../tx/transaction.ts';
import { decodeStoredTx, decodeTx } from '../../tx/tx-bytes.ts';
import { type EntryTexts, idOf, PoolEntry } from '../entries/entry.ts';
import { createEntryBytes } from '../entries/entry-bytes.ts';
import type { Entries } from '../entries/pool-entries.ts';
import type { Senders } from '../entries/senders.ts';
import type { PoolChain, TrialScripts } from '../pool-chain.ts';
import { ScriptPace } from './script-pace.ts';
import { type AskVerdicts, createVerdictGroup, GROUP_MAX } from './verdict-group.ts';

export interface AdmissionOptions {
  /** False: this node takes no transactions of accounts with scripts. Absent: it does. */
  readonly acceptsScripted?: boolean;
}

export interface AdmissionPorts {
  readonly scheme: ChainScheme;
  readonly state: Pick<
    PoolChain,
    'tryApply' | 'tryUnjudged' | 'hasScripts' | 'planChecks' | 'isScripted'
  >;
  readonly verifier: Verifier;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly log: Log;
  readonly entries: Entries;
  readonly senders: Senders;
  /** True while the disk has no room to keep it; absent: it has. */
  readonly isDiskLow?: (() => boolean) | undefined;
  /**
   * What to wait for before a transaction with this id and sender is judged: older ones of the
   * journal that are not judged yet (recovery.ts).
   */
  readonly recovering: (key: string, sender: string) => Promise<void> | undefined;
}

/** What is known about bytes from outside before they are submitted. */
export interface Arriving {
  /** True: the state is asked before the signatures are checked, and again afterwards. */
  readonly isDoubted?: boolean;
  /** Verdicts on all proofs of exactly these bytes, checked as if no account had a script. */
  readonly verdicts?: ProofVerdicts | undefined;
  /** The id of exactly these bytes, in memory that does not change. */
  readonly id?: Uint8Array;
  /** Their hash as Latin-1 text (bytes-index.ts). */
  readonly bytesHash?: string;
}

/** One of several that arrived together. */
export interface ArrivedBytes extends Pick<Arriving, 'bytesHash'> {
  readonly bytes: Uint8Array;
}

const NOTHING_KNOWN: Arriving = {};

export class Admission {
  private readonly options: AdmissionOptions;
  private readonly ports: AdmissionPorts;
  private readonly copied = createEntryBytes();
  private readonly scripts: ScriptPace;
  /** Those of the journal come one by one, so they never fill the line of the others. */
  private readonly scriptsAgain: ScriptPace;
  private readonly arriving = new Map<string, Arrival>();
  /** How many of them are named by their bytes. */
  private rivals = 0;
  /** Entries that are on their way to the disk. */
  private readonly landing = new Map<PoolEntry, Promise<void>>();

  constructor(options: AdmissionOptions, ports: AdmissionPorts) {
    this.options = options;
    this.ports = ports;
    this.scripts = new ScriptPace(ports.clock);
    this.scriptsAgain = new ScriptPace(ports.clock);
  }

  /** Throws ApiError. */
  submit(tx: Tx): Promise<Tx> {
    return this.once(tx, this.ownCopy, NOTHING_KNOWN);
  }

  /** The same for a transaction as bytes, which are copied. Throws CodecError too. */
  submitBytes(bytes: Uint8Array, found = NOTHING_KNOWN): Promise<Tx> {
    return found.isDoubted === true
      ? this.submitDoubted(bytes, found)
      : this.submitOwn(bytes, found);
  }

  /**
   * The same for several that arrived together. Resolves to what `submitBytes` would throw, in
   * their order; undefined for those that are in the pool.
   */
  async submitAll(list: readonly ArrivedBytes[], isDoubted: boolean): Promise<readonly unknown[]> {
    const slice = new TimeSlice(this.ports.clock);
    const errors: Promise<unknown>[] = [];
    for (let from = 0; from < list.length; from += GROUP_MAX) {
      const group = createVerdictGroup(this.ports.verifier);
      for (const one of list.slice(from, from + GROUP_MAX)) {
        const submitted = isDoubted
          ? this.submitDoubted(one.bytes, one)
          : this.submitOwn(one.bytes, one, group.ask);
        errors.push(errorOf(submitted));
        // Reading the script of a type 13 takes milliseconds.
        if (slice.isOver()) await slice.yield();
      }
      group.send();
    }
    return Promise.all(errors);
  }

  /** Throws ApiError where `submit` would refuse it, wrong signatures aside. */
  async check(tx: Tx): Promise<void> {
    this.requireSpace();
    const sender = latin1(tx.sender);
    // It reads the scripts in pieces, and they run in one.
    const planning = this.planOf(tx, sender);
    if (planning instanceof Promise) await planning;
    await this.scripts.pass(sender, (run) => this.requirePlace(tx, this.placeOf(tx, sender, run)));
  }

  /**
   * Accepts a transaction that is on disk already; the pool keeps its bytes. It waits for its turn
   * where scripts rest. `accepted` runs before anything else can see the entry. Throws ApiError.
   */
  acceptAgain(
    tx: Tx,
    texts: EntryTexts,
    verdicts: ProofVerdicts,
    accepted: (entry: PoolEntry) => void,
  ): PoolEntry | Promise<PoolEntry> {
    return this.scriptsAgain.pass(texts.sender, (run) => {
      const entry = this.insert(tx, texts, verdicts, this.placeAgain(tx, texts.sender, run));
      accepted(entry);
      return entry;
    });
  }

  private submitOwn(bytes: Uint8Array, found: Arriving, ask?: AskVerdicts): Promise<Tx> {
    try {
      return this.once(this.decode(bytes, found), itself, found, ask);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  private async submitDoubted(bytes: Uint8Array, found: Arriving): Promise<Tx> {
    const tx = this.decode(bytes, found);
    await this.check(tx);
    return this.once(tx, itself, found);
  }

  private decode(bytes: Uint8Array, { id }: Arriving): Tx {
    return decodeTx(this.copied(bytes), this.ports.scheme, id);
  }

  /** A function for each transaction would be garbage, so this one and the next serve all. */
  private readonly ownCopy = (tx: Tx): Tx => ownCopy(tx, this.copied(tx.bytes), this.ports.scheme);

  private readonly askAlone: AskVerdicts = (tx, plan) => checkProofs(tx, plan, this.ports.verifier);

  /**
   * While a transaction is on its way to the disk it is among the entries already, so those that
   * arrive are asked first. Bytes decide, so that a copy with a wrong proof does not decide about
   * the good one (H-18: proofs are not part of the id).
   */
  private once(tx: Tx, own: (tx: Tx) => Tx, found: Arriving, ask = this.askAlone): Promise<Tx> {
    const { id, bytes } = tx;
    const key = latin1(id);
    const rival = this.arriving.get(key);
    if (rival !== undefined && equal(rival.bytes, bytes)) return outcomeOf(rival);
    // Almost never: two with one id at the same time. Ids and bytes differ in length.
    const isRival = rival !== undefined;
    // The first of them may have gone before one is sent again.
    const byBytes = isRival || this.rivals > 0 ? latin1(bytes) : key;
    const same = byBytes === key ? undefined : this.arriving.get(byBytes);
    if (same !== undefined) return outcomeOf(same);
    const name = isRival ? byBytes : key;
    if (isRival) this.rivals += 1;
    const arrival: Arrival = { bytes, outcome: undefined };
    this.arriving.set(name, arrival);
    arrival.outcome = this.admit(tx, key, name, own, found, ask);
    return arrival.outcome;
  }

  /**
   * `own` gives the transaction in memory of the pool; `name` is that of the arrival. One function
   * that waits, since each one more makes half a kilobyte of garbage, and each of its variables
   * eight bytes.
   */
  private async admit(
    tx: Tx,
    key: string,
    name: string,
    own: (tx: Tx) => Tx,
    found: Arriving,
    ask: AskVerdicts,
  ): Promise<Tx> {
    try {
      if (tx.def.internal) throw apiError('BadTransactionType', tx.type, tx.version);
      const sender = latin1(tx.sender);
      const older = this.ports.recovering(key, sender);
      if (older !== undefined) await older;
      const known = this.ports.entries.get(key);
      if (known !== undefined) return await this.earlier(known, sender);
      this.requireSpace();
      this.ports.senders.requireRoom(tx.bytes.length, sender);
      const copy = own(tx);
      if (this.options.acceptsScripted === false && this.ports.state.isScripted(tx.sender)) {
        throw refused('transactions from scripted accounts are denied from UTX pool');
      }
      let plan = this.planOf(copy, sender);
      if (plan instanceof Promise) plan = await plan;
      const verdicts = (plan === undefined ? found.verdicts : undefined) ?? (await ask(copy, plan));
      const texts = { key, sender, bytesHash: found.bytesHash };
      // Others may have filled the pool while the signature was being checked.
      let entry = this.scripts.pass(sender, (run) =>
        this.insert(copy, texts, verdicts, this.placeOf(copy, texts.sender, run)),
      );
      if (entry instanceof Promise) entry = await entry;
      if (!entry.holds(copy.bytes)) return await this.earlier(entry, sender);
      const landed = this.ports.journal.append(copy.bytes);
      this.landing.set(entry, landed);
      try {
        await landed;
      } catch (cause) {
        throw this.notWritten(entry, cause);
      } finally {
        this.landing.delete(entry);
      }
      if (!entry.removed) this.ports.entries.announce(entry);
      return tx;
    } finally {
      this.arriving.delete(name);
      if (name !== key) this.rivals -= 1;
    }
  }

  /** Throws OwnFailure. */
  private requireSpace(): void {
    if (this.ports.isDiskLow?.() === true) throw apiError('DiskLow');
  }

  private notWritten(entry: PoolEntry, cause: unknown): ApiError {
    this.ports.entries.remove(entry);
    this.ports.log.error('pool.journal-failed', { why: String(cause) });
    return apiError('StatusCheckFailed', 'the pool cannot be written to disk');
  }

  /** The entry with the same id, once it is on disk. The id of an alias does not name the sender. */
  private async earlier(known: PoolEntry, sender: string): Promise<Tx> {
    if (known.sender !== sender) throw refused('Alias already claimed');
    try {
      await this.landing.get(known);
    } catch (cause) {
      throw this.notWritten(known, cause);
    }
    return decodeStoredTx(known.bytes, this.ports.scheme);
  }

  /** One with other proofs may have come in meanwhile: the first one stays. */
  private insert(
    tx: Tx,
    texts: EntryTexts,
    verdicts: ProofVerdicts,
    place: TrialScripts,
  ): PoolEntry {
    const { entries, state } = this.ports;
    const known = entries.get(texts.key);
    if (known !== undefined) return known;
    const spending = state.tryApply(tx, verdicts, place);
    // Few transactions have a script that this came before.
    place.begin(spending);
    const entry = new PoolEntry(tx, texts, verdicts, spending, false);
    entries.put(entry);
    return entry;
  }

  /** Throws ApiError where the pool has no place for it; no script runs before. */
  private placeOf(tx: Tx, sender: string, run: ScriptTime['run']): TrialScripts {
    return {
      run,
      begin: (spending) => {
        const { entries, senders } = this.ports;
        requireFree(tx, entries);
        senders.requireRoom(tx.bytes.length, sender);
        senders.requireFunds(tx, sender, spending);
      },
    };
  }

  /** What the journal held stays in the pool in any case, so it needs no room. */
  private placeAgain(tx: Tx, sender: string, run: ScriptTime['run']): TrialScripts {
    const { senders } = this.ports;
    return { run, begin: (spending) => senders.requireFunds(tx, sender, spending) };
  }

  /** Wrong signatures aside. Throws ApiError. */
  private requirePlace(tx: Tx, place: TrialScripts): void {
    place.begin(this.ports.state.tryUnjudged(tx, place));
  }

  /** Throws ApiError where a rule refuses it that needs no script. */
  private planOf(tx: Tx, sender: string): ReturnType<PoolChain['planChecks']> {
    const { state } = this.ports;
    if (!state.hasScripts(tx)) return undefined;
    this.requirePlace(tx, this.placeOf(tx, sender, noScripts));
    return state.planChecks(tx);
  }
}

/** The pool keeps the bytes alone, so they must decode to the same transaction. Throws ApiError. */
function ownCopy(tx: Tx, bytes: Uint8Array, scheme: ChainScheme): Tx {
  let own: Tx;
  try {
    own = decodeTx(bytes, scheme);
  } catch (cause) {
    throw refusalFrom(cause);
  }
  if (own.layout === tx.layout && equal(own.id, tx.id)) return own;
  throw apiError('Invalid', 'the bytes of the transaction mean another one');
}

/**
 * A script may ask for many checks of signatures. They are made before it runs, and to know them it
 * must be read, so all other rules come before that.
 */
const noScripts: ScriptTime['run'] = () => undefined;

/**
 * Throws ApiError where another entry has one of its members, or it as a member: whoever is trusted
 * once could reserve the funds of a member in as many groups as the pool takes.
 */
function requireFree(tx: Tx, entries: Entries): void {
  for (const { id } of withMembers([tx])) {
    const other = entries.with(latin1(id));
    if (other === undefined || other.key === latin1(tx.id)) continue;
    throw refused(
      `Transaction ${base58.encode(id)} waits in the pool already, in the transaction ` +
        base58.encode(idOf(other)),
    );
  }
}

/** A transaction on its way into the pool. */
interface Arrival {
  readonly bytes: Uint8Array;
  /** Undefined until the admission waits for the first time. */
  outcome: Promise<Tx> | undefined;
}

function outcomeOf({ outcome }: Arrival): Promise<Tx> {
  assert(outcome !== undefined, 'nothing arrives while another transaction is being tried');
  return outcome;
}

const itself = (tx: Tx): Tx => tx;

/** Why a promise is rejected; undefined where it is not. */
const errorOf = (outcome: Promise<unknown>): Promise<unknown> =>
  outcome.then(
    () => undefined,
    (error: unknown) => error,
  );
