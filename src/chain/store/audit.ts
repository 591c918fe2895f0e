/**
 * Checks after every commit that no value was made or lost (scenarios.md, the end).
 *
 * The changes of a block must sum up to zero; this check costs in proportion to the rows of the
 * block. The full check reads the whole state and is for diagnosis.
 */
import { ADDRESS_BYTES } from '../../base/sizes.ts';
import type { Account } from '../../ledger/accounts.ts';
import type { Asset } from '../../ledger/assets.ts';
import { brokenInvariants } from '../../ledger/invariants.ts';
import { keyText } from '../../ledger/key-codecs.ts';
import type { Lease } from '../../ledger/leases.ts';
import type { Change } from '../../ledger/ledger.ts';
import { accounts, assetBalances, assets, feeCarry, leases } from '../../ledger/tables.ts';
import { genesis } from '../../tx/types/001-genesis.ts';
import type { Blockchain } from '../blockchain.ts';
import { transactionsAt } from './stored-blocks.ts';

/** `blocks`: the changes of each block; `state`: also the sums of the whole state. */
export type Audit = 'blocks' | 'state';

/** Every sum that a block breaks, in a sentence; empty where all hold. */
export function brokenByBlock(changes: Iterable<Change>): readonly string[] {
  const broken: string[] = [];
  const assetSums = new Map<string, bigint>();
  const addAsset = (id: string, amount: bigint) =>
    assetSums.set(id, (assetSums.get(id) ?? 0n) + amount);
  let native = 0n;
  let leasedIn = 0n;
  let leasedOut = 0n;
  let leased = 0n;
  for (const { table, key, before, after } of changes) {
    if (table.id === accounts.id) {
      const [was, is] = [before as Account | undefined, after as Account];
      native += is.balance - (was?.balance ?? 0n);
      leasedIn += is.leasedIn - (was?.leasedIn ?? 0n);
      leasedOut += is.leasedOut - (was?.leasedOut ?? 0n);
      if (is.leasedIn < 0n || is.leasedOut < 0n || is.balance < is.leasedOut) {
        broken.push(`an account is negative: ${is.balance}, ${is.leasedIn}, ${is.leasedOut}`);
      }
    } else if (table.id === feeCarry.id) {
      native += amountOf(after) - amountOf(before);
    } else if (table.id === leases.id) {
      leased += activeAmount(after) - activeAmount(before);
    } else if (table.id === assetBalances.id) {
      if (amountOf(after) < 0n) broken.push(`an asset balance is negative: ${after}`);
      addAsset(keyText(key.subarray(ADDRESS_BYTES)), amountOf(after) - amountOf(before));
    } else if (table.id === assets.id) {
      addAsset(keyText(key), quantityOf(before) - quantityOf(after));
    }
  }
  if (native !== 0n) broken.push(`native balances changed by ${native} in all`);
  if (leasedIn !== leased || leasedOut !== leased) {
    broken.push(`leases changed by ${leased}, leased in by ${leasedIn}, out by ${leasedOut}`);
  }
  for (const sum of assetSums.values()) {
    if (sum !== 0n) broken.push(`balances of an asset changed by ${sum} beside its quantity`);
  }
  return broken;
}

const amountOf = (value: unknown): bigint => (value as bigint | undefined) ?? 0n;
const quantityOf = (value: unknown): bigint => (value as Asset | undefined)?.quantity ?? 0n;

function activeAmount(value: unknown): bigint {
  const lease = value as Lease | undefined;
  return lease?.active === true ? lease.amount : 0n;
}

/** The native units that the genesis block gave out. */
export function initialBalance({ view }: Pick<Blockchain, 'view'>): bigint {
  return transactionsAt(view, 1)
    .filter(({ type }) => type === genesis.type)
    .reduce((sum, { fields }) => sum + (fields['amount'] as bigint), 0n);
}

/** Checks the chain after every commit; `fail` receives the first sum that does not hold. */
export function auditChain(
  blockchain: Blockchain,
  audit: Audit,
  fail: (broken: readonly string[]) => void,
): () => void {
  const initial = initialBalance(blockchain);
  const judge = (broken: readonly string[]): void => {
    if (broken.length > 0) fail(broken);
  };
  const judgeState = (): void => judge(brokenInvariants(blockchain.view, initial));
  return blockchain.listen({
    block({ block }) {
      judge(brokenByBlock(block.overlay.changes()));
      if (audit === 'state') judgeState();
    },
    rolledBack() {
      if (audit === 'state') judgeState();
    },
  });
}
