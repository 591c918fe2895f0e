// The check of the whole state reads all rows, and finds where they disagree.
import t from 'tap';
import { createCommittedView } from '../../src/ledger/committed-view.ts';
import { brokenInvariants, rowsOf } from '../../src/ledger/invariants.ts';
import type { LedgerView } from '../../src/ledger/ledger.ts';
import { createOverlay } from '../../src/ledger/overlay.ts';
import { accountHistory, accounts, aliases } from '../../src/ledger/tables.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import { scheme } from './tables.ts';

const ROWS = 1_000_001;

t.test('every row of a table is read', async (t) => {
  const view = {
    *range(_table: unknown, _from: unknown, _to: unknown, limit: number) {
      for (let i = 0; i < Math.min(limit, ROWS); i++) yield ['', ''];
    },
  } as unknown as LedgerView;
  let count = 0;
  for (const _ of rowsOf(view, aliases)) count++;
  t.equal(count, ROWS);
});

t.test('the history of an account ends with its present state', async (t) => {
  const named = { ...scheme, addressToText: () => 'alice' };
  const alice = new Uint8Array(26).fill(1);
  const account = { balance: 3n, leasedIn: 0n, leasedOut: 0n };
  const why = 'the history of alice does not end with its present state';
  for (const [past, problems] of [
    [account, []],
    [{ ...account, balance: 2n }, [why]],
    [{ ...account, leasedIn: 1n }, [why]],
    [{ ...account, leasedOut: 1n }, [why]],
  ] as const) {
    const state = createOverlay(createCommittedView(createMemoryStore(), named));
    state.set(accounts, alice, account);
    state.set(accountHistory, [alice, 1], past);
    t.same(brokenInvariants(state, 3n), problems);
  }
});
