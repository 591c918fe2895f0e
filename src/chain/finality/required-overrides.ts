/**
 * Whether a stored chain was made with the overrides that the configuration has (finality.md#overrides): a
 * node that left one out, or took another, would judge blocks by other voters than its neighbours.
 */
import { equal } from '../../base/bytes.ts';
import { StartError } from '../../base/start-error.ts';
import { headerHash } from '../../block/header.ts';
import { u32Key } from '../../ledger/key-codecs.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { voterOverrides } from '../../ledger/tables.ts';
import { overrideAt, type VoterOverride } from '../../tx/rules/chain-rules.ts';
import { headerRowAt } from '../store/stored-blocks.ts';
import { finalFloor } from './final-floor.ts';
import { leavesAt } from './finality-state.ts';
import { overrideHash } from './voter-override.ts';

const KEY = 'finality.overrides';
/** Only configurations add rows. */
const ROWS_MAX = 1_000;

/** `height` is that of the tip. Throws StartError. */
export function requireOverrides(
  view: LedgerView,
  overrides: readonly VoterOverride[],
  height: number,
): void {
  const [from, to] = [u32Key.encode(0), u32Key.encode(height + 1)];
  for (const [at, hash] of view.range(voterOverrides, from, to, ROWS_MAX)) {
    const named = overrideAt(overrides, at);
    if (named !== undefined && equal(overrideHash(named, view.scheme), hash)) continue;
    const why = `the chain was made with other voters from height ${at} on`;
    throw new StartError(KEY, 'finality', why, 'put the entry back as it was');
  }
  for (const named of overrides) requireOverride(view, named, height);
}

function requireOverride(view: LedgerView, { block }: VoterOverride, height: number): void {
  const at = block.height;
  if (at > height) return;
  if (leavesAt(view, at) === undefined) {
    throw new StartError(KEY, 'finality', `nobody votes on block ${at}`, 'leave its entry out');
  }
  const row = headerRowAt(view, at);
  const isOther = row === undefined || !equal(headerHash(row.header, view.scheme), block.id);
  const isMade = view.get(voterOverrides, at) !== undefined;
  const final = finalFloor(view);
  if (!isOther && !isMade && at === final) {
    // Votes from it would bind those who are left, and the block that carried them is gone.
    throw new StartError(KEY, 'finality', `block ${at} is final`, 'name a block above it');
  }
  if (!isOther && (isMade || at === height)) return;
  const what = isOther ? 'has another block of' : 'was made without the entry of';
  const last = isOther ? at - 1 : at;
  const remedy =
    final > last
      ? `block ${final} is final here and stays: name a block above it`
      : `run 'platform-node chain rollback' with the height ${last}`;
  throw new StartError(KEY, 'finality', `the chain ${what} height ${at}`, remedy);
}
