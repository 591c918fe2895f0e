/** Miners whose ban is in force at a height, in the order of their addresses. */
import { decodeBanHistory, isBanned } from '../../consensus/ban-history.ts';
import { END_OF_TABLE, START_OF_TABLE } from '../../ledger/key-codecs.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { bans } from '../../ledger/tables.ts';

/** More miners than any network of this kind has. */
const MINERS_MAX = 100_000;

/** Gives undefined for each miner that is not banned. */
export function* bannedMiners(
  view: LedgerView,
  height: number,
  banDurationBlocks: number,
): Generator<Uint8Array | undefined> {
  for (const [address, row] of view.range(bans, START_OF_TABLE, END_OF_TABLE, MINERS_MAX)) {
    const history = decodeBanHistory(row, view.scheme);
    yield isBanned(history, height, banDurationBlocks) ? address : undefined;
  }
}
