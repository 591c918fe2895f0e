/**
 * The end of an atomic transaction with contracts that does not get into the block: it stays for a
 * later round, or leaves the pool with all its members (contracts.md#inside-atomic-transactions).
 */
import { fromLatin1 } from '../../base/bytes.ts';
import { type ApiError, apiError } from '../../base/errors.ts';
import type { ContractFailure, ContractOutcome } from '../../base/ports/containers.ts';
import { refusalFrom } from '../../codec/refusal.ts';
import { base58 } from '../../codec/text.ts';
import type { PoolEntry } from '../../mempool/entries/entry.ts';
import { membersOf } from '../../tx/members.ts';
import type { Tx } from '../../tx/transaction.ts';
import { type ConcludePorts, isOutage, lastAttempt, outageOf } from '../execution/conclude.ts';
import {
  type Judgement,
  judgeError,
  judgeFailure,
  judgeRefusal,
} from '../execution/judge-outcome.ts';
import type { GroupCall } from '../waiting/group-calls.ts';

/** A contract transaction that leaves, or waits, because of others: no refusal of itself. */
const WITH_OTHERS = { status: 'Failure', code: 4 } as const;

const CUT = 'The time of the block for atomic transactions with contracts has ended while it ran';

type Said = Judgement['report'];

/** What the statuses say of the group and of its members with contracts. */
function* recordsOf(
  tx: Tx,
  leaves: boolean,
  said: Said,
  by: GroupCall | undefined,
): Generator<Parameters<ConcludePorts['report']>[0]> {
  const message = blamed(by, said.message);
  // Others drop it by this one: its members may be good in another atomic transaction.
  if (leaves) yield { txId: tx.id, ...said, message };
  for (const [index, member] of membersOf(tx).entries()) {
    const contractId = member.def.executable === true ? member.def.contract?.(member) : undefined;
    if (contractId === undefined) continue;
    const record = { txId: member.id, contractId };
    // By its place: the transaction may have been decoded anew since the call began.
    if (by?.index === index) yield { ...record, ...said };
    else yield { ...record, ...(leaves ? WITH_OTHERS : said), message };
  }
}

/** Failures count for the sender of the group, who has put it together. */
export class GroupOutcomes {
  private readonly ports: ConcludePorts;

  constructor(ports: ConcludePorts) {
    this.ports = ports;
  }

  /** A rule refuses the group before any of it has run. */
  unfit(entry: PoolEntry, tx: Tx, cause: unknown): void {
    const found = judgeRefusal(refusalFrom(cause).message);
    this.conclude(entry, tx, found, false, undefined, 'refuse');
  }

  /** A rule refuses the group with its results. */
  refused(entry: PoolEntry, tx: Tx, cause: unknown): void {
    this.judged(entry, tx, judgeRefusal(refusalFrom(cause).message));
  }

  /** The results of a call break a rule. */
  badResults(entry: PoolEntry, tx: Tx, call: GroupCall, refusal: ApiError): void {
    this.ports.breakers.failed(call.key, { sender: entry.sender, outage: undefined });
    this.judged(entry, tx, judgeRefusal(refusal.message), call);
  }

  /** A member has had too many failures. */
  givenUp(entry: PoolEntry, tx: Tx, call: GroupCall): void {
    this.judged(entry, tx, judgeRefusal('The contract has failed too often'), call);
  }

  /** The container of a call did not start; an update before it may have named the image. */
  unready(entry: PoolEntry, tx: Tx, call: GroupCall, why: ContractFailure): void {
    const outage = outageOf(call, call.image, why);
    this.ports.breakers.failed(call.key, { sender: entry.sender, outage });
    this.broken(entry, tx, call, why);
  }

  /** A call has not succeeded, or the image of an update is not good. */
  failed(
    entry: PoolEntry,
    tx: Tx,
    call: GroupCall,
    outcome: Exclude<ContractOutcome, { readonly kind: 'success' }>,
  ): void {
    const { sender } = entry;
    const { breakers } = this.ports;
    if (outcome.kind === 'failure') {
      breakers.failed(call.key, { sender, outage: outageOf(call, call.image, outcome) });
      this.broken(entry, tx, call, outcome);
      return;
    }
    const judgement = judgeError(outcome);
    if (judgement.leaves) breakers.refused(call.key, sender);
    else breakers.failed(call.key, { sender, outage: undefined });
    this.judged(entry, tx, judgement, call);
  }

  /** Something else than the group keeps it out of the block: it is tried again for as long as in an outage. */
  heldUp(entry: PoolEntry, tx: Tx, message: string, call?: GroupCall): void {
    const { repetitions } = this.ports;
    const found = judgeFailure({ kind: 'failure', message, recoverable: true, system: true });
    this.conclude(entry, tx, found, !repetitions.heldUp(entry.key), call);
  }

  /** The part has ended while this call of the group ran. */
  cut(entry: PoolEntry, tx: Tx, call: GroupCall): void {
    this.heldUp(entry, tx, CUT, call);
  }

  /** The group is in the block. */
  added({ sender }: PoolEntry, calls: readonly GroupCall[]): void {
    const { breakers } = this.ports;
    for (const { isUpdate, key } of calls) {
      if (!isUpdate) breakers.succeeded(key, sender);
    }
  }

  private judged(entry: PoolEntry, tx: Tx, found: Judgement, call?: GroupCall): void {
    const isLast = !found.leaves && !this.ports.repetitions.failed(entry.key);
    this.conclude(entry, tx, found, isLast, call);
  }

  private broken(entry: PoolEntry, tx: Tx, call: GroupCall, why: ContractFailure): void {
    const found = judgeFailure(why);
    if (!isOutage(why)) this.judged(entry, tx, found, call);
    else this.conclude(entry, tx, found, !this.ports.repetitions.heldUp(entry.key), call);
  }

  private conclude(
    entry: PoolEntry,
    tx: Tx,
    found: Judgement,
    isLast: boolean,
    by: GroupCall | undefined,
    end: 'drop' | 'refuse' = 'drop',
  ): void {
    const { pool, report, failed } = this.ports;
    // What the rules refuse may wait for another part of the block.
    if (end === 'drop') failed.add(entry.key);
    const { leaves, report: said } = isLast ? lastAttempt(found) : found;
    if (leaves) {
      pool[end](entry, apiError('Invalid', blamed(by, said.message)));
      // After a reorganisation the pool keeps it in doubt, and nothing is decided yet.
      if (!entry.removed) return;
    }
    for (const record of recordsOf(tx, leaves, said, by)) report(record);
  }
}

const blamed = (by: GroupCall | undefined, message: string): string =>
  by === undefined
    ? message
    : `The transaction '${base58.encode(by.tx.id)}' of the same atomic one has failed in the ` +
      `contract '${base58.encode(fromLatin1(by.key))}': ${message}`;
