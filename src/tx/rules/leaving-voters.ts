/** A voter stays reachable until it decides on no block any more (finality.md#voters). */
import { equal } from '../../base/bytes.ts';
import { refused } from '../../base/errors.ts';
import type { VoterSet } from '../../finality/voter-set.ts';
import { decidingSets } from '../../finality/voter-sets.ts';
import { decodeVoterSets } from '../../finality/voter-sets-bytes.ts';
import { u32Key } from '../../ledger/key-codecs.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { voterSets } from '../../ledger/tables.ts';
import type { BlockContext } from '../transaction.ts';
import { feature } from './features.ts';

/** Throws ApiError where the account is a voter on the block. */
export function requireNoVoter(
  view: LedgerView,
  address: Uint8Array,
  { features, height }: Pick<BlockContext, 'features' | 'height'>,
): void {
  if (!features.has(feature.votersStay)) return;
  const isVoter = decidingIn(view, height).some(({ addresses }) =>
    addresses.some((one) => equal(one, address)),
  );
  if (!isVoter) return;
  throw refused(
    `Account '${view.scheme.addressToText(address)}' votes on blocks: take its role 'miner', and ` +
      'remove it once GET /finality does not name it any more',
  );
}

/** Left by the parent of the block. */
function decidingIn(view: LedgerView, height: number): readonly VoterSet[] {
  const [from, to] = [u32Key.encode(0), u32Key.encode(height)];
  for (const [, row] of view.range(voterSets, from, to, 1, true)) {
    return row.length === 0 ? [] : decidingSets(decodeVoterSets(row, view.scheme));
  }
  return [];
}
