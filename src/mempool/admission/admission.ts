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
import type { Clock, Journal, Log, Verifier } from '../../base/ports.ts';
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
  readonly state: Pick<PoolChain, 'tryApply' | 'tryUnjudged' | 'planChecks' | 'isScripted'>;
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

export interface Admission {
  /** Throws ApiError. */
  submit(tx: Tx): Promise<Tx>;
  /** The same for a transaction as bytes, which are copied. Throws CodecError too. */
  submitBytes(bytes: Uint8Array, arriving?: Arriving): Promise<Tx>;
  /**
   * The same for several that arrived together. Resolves to what `submitBytes` would throw, in
   * their order; undefined for those that are in the pool.
   */
  submitAll(list: readonly ArrivedBytes[], isDoubted: boolean): Promise<readonly unknown[]>;
  /** Throws ApiError where `submit` would refuse it, wrong signatures aside. */
  check(tx: Tx): Promise<void>;
  /**
   * Accepts a transaction that is on disk already; the pool keeps its bytes. It waits for its turn
   * where scripts rest. Throws ApiError.
   */
  acceptAgain(tx: Tx, texts: EntryTexts, verdicts: ProofVerdicts): PoolEntry | Promise<PoolEntry>;
}

export function createAdmission(options: AdmissionOptions, ports: AdmissionPorts): Admission {
  const { scheme, state, verifier, clock, journal, log, entries, senders, recovering } = ports;
  const copied = createEntryBytes();
  const askAlone: AskVerdicts = (tx, plan) => checkProofs(tx, plan, verifier);
  const scripts = new ScriptPace(clock);
  /** Those of the journal come one by one, so they never fill the line of the others. */
  const scriptsAgain = new ScriptPace(clock);
  const arriving = new Map<string, Arrival>();
  /** Entries that are on their way to the disk. */
  const landing = new Map<PoolEntry, Promise<void>>();

  /** The pool keeps the bytes alone, so they must decode to the same transaction. */
  function ownCopy(tx: Tx): Tx {
    let own: Tx;
    try {
      own = decodeTx(copied(tx.bytes), scheme);
    } catch (cause) {
      throw refusalFrom(cause);
    }
    if (own.layout === tx.layout && equal(own.id, tx.id)) return own;
    throw apiError('Invalid', 'the bytes of the transaction mean another one');
  }

  /**
   * While a transaction is on its way to the disk it is among the entries already, so those that
   * arrive are asked first. Bytes decide, so that a copy with a wrong proof does not decide about
   * the good one (H-18: proofs are not part of the id).
   */
  function once(tx: Tx, own: (tx: Tx) => Tx, found: Arriving, ask = askAlone): Promise<Tx> {
    const { id, bytes } = tx;
    const key = latin1(id);
    const rival = arriving.get(key);
    if (rival !== undefined && equal(rival.bytes, bytes)) return outcomeOf(rival);
    // Almost never: two with one id at the same time. Ids and bytes differ in length.
    const name = rival === undefined ? key : latin1(bytes);
    const same = rival === undefined ? undefined : arriving.get(name);
    if (same !== undefined) return outcomeOf(same);
    const arrival: Arrival = { bytes, outcome: undefined };
    arriving.set(name, arrival);
    arrival.outcome = admit(tx, key, name, own, found, ask);
    return arrival.outcome;
  }

  /**
   * `own` gives the transaction in memory of the pool; `name` is that of the arrival. One function
   * that waits, since each one more makes half a kilobyte of garbage.
   */
  async function admit(
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
      const older = recovering(key, sender);
      if (older !== undefined) await older;
      const known = entries.get(key);
      if (known !== undefined) return await earlier(known, sender);
      requireSpace();
      senders.requireRoom(tx.bytes.length, sender);
      const copy = own(tx);
      if (options.acceptsScripted === false && state.isScripted(tx.sender)) {
        throw refused('transactions from scripted accounts are denied from UTX pool');
      }
      const plan = state.planChecks(copy);
      if (plan !== undefined) requirePlace(copy, placeOf(copy, sender, noScripts));
      const verdicts = (plan === undefined ? found.verdicts : undefined) ?? (await ask(copy, plan));
      // One with other proofs may have come in meanwhile: the first one stays.
      const texts = { key, sender, bytesHash: found.bytesHash };
      const passed = scripts.pass(
        sender,
        // Others may have filled the pool while the signature was being checked.
        (run) => entries.get(key) ?? insert(copy, texts, verdicts, placeOf(copy, sender, run)),
      );
      const entry = passed instanceof Promise ? await passed : passed;
      if (!entry.holds(copy.bytes)) return await earlier(entry, sender);
      const landed = journal.append(copy.bytes);
      landing.set(entry, landed);
      try {
        await landed;
      } catch (cause) {
        throw notWritten(entry, cause);
      } finally {
        landing.delete(entry);
      }
      if (!entry.removed) entries.announce(entry);
      return tx;
    } finally {
      arriving.delete(name);
    }
  }

  /** Throws OwnFailure. */
  function requireSpace(): void {
    if (ports.isDiskLow?.() === true) throw apiError('DiskLow');
  }

  function notWritten(entry: PoolEntry, cause: unknown): ApiError {
    entries.remove(entry);
    log.error('pool.journal-failed', { why: String(cause) });
    return apiError('StatusCheckFailed', 'the pool cannot be written to disk');
  }

  /** The entry with the same id, once it is on disk. The id of an alias does not name the sender. */
  async function earlier(known: PoolEntry, sender: string): Promise<Tx> {
    if (known.sender !== sender) throw refused('Alias already claimed');
    try {
      await landing.get(known);
    } catch (cause) {
      throw notWritten(known, cause);
    }
    return decodeStoredTx(known.bytes, scheme);
  }

  function insert(
    tx: Tx,
    texts: EntryTexts,
    verdicts: ProofVerdicts,
    place: TrialScripts,
  ): PoolEntry {
    const spending = state.tryApply(tx, verdicts, place);
    // Few transactions have a script that this came before.
    place.begin(spending);
    const entry = new PoolEntry(tx, texts, verdicts, spending, false);
    entries.put(entry);
    return entry;
  }

  /** Throws ApiError where the pool has no place for it; no script runs before. */
  const placeOf = (tx: Tx, sender: string, run: ScriptTime['run']): TrialScripts => ({
    run,
    begin(spending) {
      requireFree(tx, entries);
      senders.requireRoom(tx.bytes.length, sender);
      senders.requireFunds(tx, sender, spending);
    },
  });

  /** What the journal held stays in the pool in any case, so it needs no room. */
  const placeAgain = (tx: Tx, sender: string, run: ScriptTime['run']): TrialScripts => ({
    run,
    begin: (spending) => senders.requireFunds(tx, sender, spending),
  });

  /** Wrong signatures aside. Throws ApiError. */
  function requirePlace(tx: Tx, place: TrialScripts): void {
    place.begin(state.tryUnjudged(tx, place));
  }

  /** Wrong signatures aside. */
  const checkUnjudged = async (tx: Tx): Promise<void> => {
    requireSpace();
    const sender = latin1(tx.sender);
    await scripts.pass(sender, (run) => requirePlace(tx, placeOf(tx, sender, run)));
  };

  function submitOwn(bytes: Uint8Array, found: Arriving, ask?: AskVerdicts): Promise<Tx> {
    try {
      return once(decodeTx(copied(bytes), scheme, found.id), itself, found, ask);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async function submitDoubted(bytes: Uint8Array, found: Arriving): Promise<Tx> {
    const tx = decodeTx(copied(bytes), scheme, found.id);
    await checkUnjudged(tx);
    return once(tx, itself, found);
  }

  async function submitAll(
    list: readonly ArrivedBytes[],
    isDoubted: boolean,
  ): Promise<readonly unknown[]> {
    const slice = new TimeSlice(clock);
    const errors: Promise<unknown>[] = [];
    for (let from = 0; from < list.length; from += GROUP_MAX) {
      const group = createVerdictGroup(verifier);
      for (const one of list.slice(from, from + GROUP_MAX)) {
        const submitted = isDoubted
          ? submitDoubted(one.bytes, one)
          : submitOwn(one.bytes, one, group.ask);
        errors.push(errorOf(submitted));
        // Reading the script of a type 13 takes milliseconds.
        if (slice.isOver()) await slice.yield();
      }
      group.send();
    }
    return Promise.all(errors);
  }

  return {
    submit: (tx) => once(tx, ownCopy, NOTHING_KNOWN),
    submitBytes: (bytes, found = NOTHING_KNOWN) =>
      found.isDoubted === true ? submitDoubted(bytes, found) : submitOwn(bytes, found),
    submitAll,
    check: checkUnjudged,
    acceptAgain: (tx, texts, verdicts) =>
      scriptsAgain.pass(
        texts.sender,
        (run) =>
          entries.get(texts.key) ?? insert(tx, texts, verdicts, placeAgain(tx, texts.sender, run)),
      ),
  };
}

/**
 * A script may ask for many checks of signatures. They are made before it runs, so all other rules
 * come before them.
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
