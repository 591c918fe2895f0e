/** A voter stays reachable until it decides on no block any more (finality.md#voters). */
import { equal } from '../../base/bytes.ts';
import { refused } from '../../base/errors.ts';
import { decidingSets } from '../../finality/votes/voter-sets.ts';
import { decodeVoterSets } from '../../finality/votes/voter-sets-bytes.ts';
import { u32Key } from '../../ledger/key-codecs.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { voterSets } from '../../ledger/tables.ts';
import type { BlockContext } from '../transaction.ts';
import { type ChainRules, overrideAt } from './chain-rules.ts';
import { feature } from './features.ts';

/** Throws ApiError where the account is a voter on the block. */
export function requireNoVoter(
  view: LedgerView,
  address: Uint8Array,
  { features, height, rules }: Pick<BlockContext, 'features' | 'height' | 'rules'>,
): void {
  if (!features.has(feature.votersStay)) return;
  const isVoter = decidingIn(view, height, rules).some((one) => equal(one, address));
  if (!isVoter) return;
  throw refused(
    `Account '${view.scheme.addressToText(address)}' votes on blocks: take its role 'miner', and ` +
      'remove it once GET /finality does not name it any more',
  );
}

/** Addresses of the voters of the sets that the parent of the block leaves. */
function decidingIn(
  view: LedgerView,
  height: number,
  { voterOverrides = [] }: Pick<ChainRules, 'voterOverrides'>,
): readonly Uint8Array[] {
  const [from, to] = [u32Key.encode(0), u32Key.encode(height)];
  for (const [, row] of view.range(voterSets, from, to, 1, true)) {
    if (row.length === 0) return [];
    // The first child of a named block writes this row once its transactions are applied.
    const named = overrideAt(voterOverrides, height - 1);
    if (named !== undefined) return named.voters.map((key) => view.scheme.addressOf(key));
    return decidingSets(decodeVoterSets(row, view.scheme)).flatMap(({ addresses }) => addresses);
  }
  return [];
}
