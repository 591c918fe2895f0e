/**
 * The entries of each sender in the pool: their number, their bytes, and what they take from the
 * sender together (mempool.md, H-17: shares of the pool). The pool asks before it accepts a new
 * entry.
 */

import { base58 } from '../../base/base58.ts';
import { fromLatin1 } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import { unavailableFunds } from '../../tx/rules/balance-check.ts';
import type { Tx } from '../../tx/transaction.ts';
import type { Spending } from './spending.ts';

export interface SenderLimits {
  /** The most bytes of all entries together (`utx.memory-limit`). */
  readonly bytesMax: number;
  /** The most entries of one sender; they may also hold at most a tenth of the bytes. */
  readonly senderEntriesMax: number;
  /** Name of the native token in messages. */
  readonly nativeToken: string;
}

export interface Funds {
  availableBalance(address: Uint8Array): bigint;
  assetBalance(address: Uint8Array, assetId: Uint8Array): bigint;
}

/** What the limits need of an entry. */
export interface Counted extends Spending {
  /** An address as Latin-1 text; all entries of a sender share one. */
  sender: string;
  /** The number of its bytes. */
  readonly size: number;
}

interface Totals {
  readonly sender: string;
  entries: number;
  bytes: number;
  /** The number of entries of others that take something from this account. */
  inside: number;
  native: bigint;
  readonly assets: Map<string, bigint>;
  /** What entries of others, whose fees this account sponsors, take from it. */
  sponsored: bigint;
}

const SENDER_BYTES_SHARE = 10;

export class Senders {
  private readonly limits: SenderLimits;
  private readonly funds: Funds;
  private readonly bySender = new Map<string, Totals>();
  /** The bytes of all entries. */
  bytes = 0;
  private reserved = 0;

  constructor(limits: SenderLimits, funds: Funds) {
    this.limits = limits;
    this.funds = funds;
  }

  /** Keeps so many bytes more for what will come back, or fewer. */
  reserve(bytes: number): void {
    this.reserved += bytes;
  }

  /** Throws ApiError where the pool, or the sender's share of it, is full. */
  requireRoom(size: number, sender: string): void {
    const { bytesMax, senderEntriesMax } = this.limits;
    const own = this.bySender.get(sender);
    const full =
      this.bytes + this.reserved + size > bytesMax ||
      (own !== undefined &&
        (own.entries >= senderEntriesMax || (own.bytes + size) * SENDER_BYTES_SHARE > bytesMax));
    if (full) throw apiError('Invalid', 'Transaction pool bytes size limit is reached');
  }

  /**
   * Throws ApiError where an account cannot pay for this in addition to what entries in the pool take
   * from it. What strangers take from a sponsor hinders strangers only, and never its own entries.
   */
  requireFunds(tx: Tx, sender: string, spending: Spending): void {
    this.requireFundsOf(tx.sender, sender, spending);
    for (const [other, spent] of spending.others ?? NO_OTHERS) {
      this.requireFundsOf(fromLatin1(other), other, spent);
    }
    for (const [sponsor, spent] of spending.sponsors ?? NO_OTHERS) {
      const { sponsored = 0n } = this.bySender.get(sponsor) ?? {};
      const all = { ...spent, native: spent.native + sponsored };
      this.requireFundsOf(fromLatin1(sponsor), sponsor, all);
    }
  }

  private requireFundsOf(address: Uint8Array, sender: string, spending: Spending): void {
    const own = this.bySender.get(sender);
    if (own === undefined) return;
    const native = this.funds.availableBalance(address);
    const spends = own.native + spending.native;
    if (spending.native > 0n && spends > native) {
      throw unavailableFunds(this.limits.nativeToken, native, spends);
    }
    for (const [asset, amount] of spending.assets ?? []) {
      const id = fromLatin1(asset);
      const balance = this.funds.assetBalance(address, id);
      const assetSpends = (own.assets.get(asset) ?? 0n) + amount;
      if (assetSpends > balance) {
        throw unavailableFunds(`asset '${base58.encode(id)}'`, balance, assetSpends);
      }
    }
  }

  add(entry: Counted): void {
    let own = this.bySender.get(entry.sender);
    if (own === undefined) {
      own = newTotals(entry.sender);
      this.bySender.set(own.sender, own);
    }
    entry.sender = own.sender;
    this.count(own, entry, 1);
    this.takeFromOthers(entry, 1);
  }

  remove(entry: Counted): void {
    const own = this.bySender.get(entry.sender);
    if (own === undefined) return;
    this.count(own, entry, -1);
    this.forgetUnused(own);
    this.takeFromOthers(entry, -1);
  }

  /** What an entry takes from other accounts; the entry itself is its sender's. */
  private takeFromOthers(entry: Counted, sign: 1 | -1): void {
    const { others = NO_OTHERS, sponsors = NO_OTHERS } = entry;
    for (const [sender, spending] of others) {
      this.changeInside(sender, sign, (own) => spend(own, spending, sign));
    }
    for (const [sponsor, { native }] of sponsors) {
      this.changeInside(sponsor, sign, (own) => {
        own.sponsored += BigInt(sign) * native;
      });
    }
  }

  private changeInside(account: string, sign: 1 | -1, change: (own: Totals) => void): void {
    const own = this.bySender.get(account) ?? newTotals(account);
    this.bySender.set(account, own);
    own.inside += sign;
    change(own);
    this.forgetUnused(own);
  }

  private forgetUnused({ sender, entries, inside }: Totals): void {
    if (entries === 0 && inside === 0) this.bySender.delete(sender);
  }

  private count(own: Totals, entry: Counted, sign: 1 | -1): void {
    this.bytes += sign * entry.size;
    own.entries += sign;
    own.bytes += sign * entry.size;
    spend(own, entry, sign);
  }
}

function spend(own: Totals, { native, assets }: Spending, sign: 1 | -1): void {
  own.native = sign > 0 ? own.native + native : own.native - native;
  for (const [asset, amount] of assets ?? []) {
    const sum = (own.assets.get(asset) ?? 0n) + BigInt(sign) * amount;
    if (sum === 0n) own.assets.delete(asset);
    else own.assets.set(asset, sum);
  }
}

const NO_OTHERS: ReadonlyMap<string, Spending> = new Map();

const newTotals = (sender: string): Totals => ({
  sender,
  entries: 0,
  bytes: 0,
  inside: 0,
  native: 0n,
  assets: new Map(),
  sponsored: 0n,
});
