import t from 'tap';
import { I64_MAX } from '../../src/base/int.ts';
import { accountOf, credit, debit, EMPTY_ACCOUNT } from '../../src/ledger/accounts.ts';
import { assetBalance, assetsOf, creditAsset, holdersOf, move } from '../../src/ledger/assets.ts';
import { createCommittedView } from '../../src/ledger/committed-view.ts';
import { createOverlay, type KeyedOverlay } from '../../src/ledger/overlay.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import { scheme } from './tables.ts';

const alice = new Uint8Array(26).fill(1);
const bob = new Uint8Array(26).fill(2);
const gold = new Uint8Array(32).fill(3);
const iron = new Uint8Array(32).fill(4);

const ledger = (): KeyedOverlay => createOverlay(createCommittedView(createMemoryStore(), scheme));

t.test('nothing moved leaves no row', async (t) => {
  const state = ledger();
  credit(state, alice, 0n);
  creditAsset(state, alice, gold, 0n);
  t.equal(state.size, 0);
  t.same(accountOf(state, alice), EMPTY_ACCOUNT);
});

t.test('no sum leaves 64 bits', async (t) => {
  const state = ledger();
  credit(state, alice, I64_MAX);
  t.throws(() => credit(state, alice, 1n), { code: 113 });
  creditAsset(state, alice, gold, I64_MAX);
  t.throws(() => creditAsset(state, alice, gold, 1n), { code: 113 });
  debit(state, alice, I64_MAX);
  t.equal(accountOf(state, alice).balance, 0n);
});

t.test('asset balances are listed under both of their names, zero under none', async (t) => {
  const state = ledger();
  creditAsset(state, alice, gold, 5n);
  creditAsset(state, alice, iron, 7n);
  move(state, alice, bob, gold, 2n);
  t.same(
    [...assetsOf(state, alice, 10)],
    [
      [gold, 3n],
      [iron, 7n],
    ],
  );
  t.same(
    [...holdersOf(state, gold, 10)],
    [
      [alice, 3n],
      [bob, 2n],
    ],
  );
  move(state, alice, bob, gold, 3n);
  t.same([...assetsOf(state, alice, 10)], [[iron, 7n]]);
  t.same([...holdersOf(state, gold, 10)], [[bob, 5n]]);
  move(state, bob, bob, gold, 5n);
  t.equal(assetBalance(state, bob, gold), 5n);
  t.same([...holdersOf(state, gold, 10)], [[bob, 5n]], 'to itself: as before');
});
