/** Votes of a key that blocks of the own chain carry: such a key has voted, whatever its note says (finality.md#notes). */
import { assert } from '../../base/assert.ts';
import { latin1 } from '../../base/bytes.ts';
import { decidingOn } from '../../finality/votes/voter-set.ts';
import { u32Key } from '../../ledger/key-codecs.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { carriedTargets } from '../../ledger/tables.ts';
import { headerRowAt } from '../store/stored-blocks.ts';
import { carriedBy } from './finality-rules.ts';
import { leavesAt } from './finality-state.ts';

const ROWS_AT_ONCE = 1_000;
const LOWEST = u32Key.encode(0);

/** Height of the highest target of such a vote; undefined where there is none. Reads each carried justification. */
export function lastCarriedVote(view: LedgerView, key: Uint8Array): number | undefined {
  const name = latin1(key);
  let end = 0xffff_ffff;
  for (;;) {
    const rows = [...view.range(carriedTargets, LOWEST, u32Key.encode(end), ROWS_AT_ONCE, true)];
    for (const [at, { height: target }] of rows) {
      if (hasVoted(view, at, target, name)) return target;
      end = at;
    }
    if (rows.length < ROWS_AT_ONCE) return undefined;
  }
}

function hasVoted(view: LedgerView, at: number, target: number, name: string): boolean {
  const sets = leavesAt(view, target - 1);
  const row = headerRowAt(view, at);
  assert(sets !== undefined && row !== undefined, 'a block that carries votes has voters');
  const { keys } = decidingOn(sets, view.scheme).members;
  const index = keys.findIndex((one) => latin1(one) === name);
  return carriedBy(row.header, view.scheme)?.votes[index] !== undefined;
}
