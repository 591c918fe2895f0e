import fc from 'fast-check';
import t from 'tap';
import { type Account, effective } from '../../src/ledger/accounts.ts';
import {
  GENERATING_DEPTH,
  generatingBalance,
  minimumOver,
} from '../../src/ledger/balance-history.ts';
import { createCommittedView } from '../../src/ledger/committed-view.ts';
import { createOverlay, type KeyedOverlay } from '../../src/ledger/overlay.ts';
import { accountHistory } from '../../src/ledger/tables.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import { scheme } from './tables.ts';

const address = new Uint8Array(26).fill(1);
const holding = (balance: bigint): Account => ({ balance, leasedIn: 0n, leasedOut: 0n });

function historyOf(changes: ReadonlyMap<number, bigint>): KeyedOverlay {
  const ledger = createOverlay(createCommittedView(createMemoryStore(), scheme));
  for (const [height, balance] of changes) {
    ledger.set(accountHistory, [address, height], holding(balance));
  }
  return ledger;
}

t.test('the generating balance is the minimum over the last 1000 blocks', async (t) => {
  const ledger = historyOf(
    new Map([
      [1, 500n],
      [10, 200n],
      [11, 700n],
    ]),
  );
  const at = (height: number) => generatingBalance(ledger, address, height);
  t.equal(at(1), 500n);
  t.equal(at(9), 500n);
  t.equal(at(10), 200n);
  t.equal(at(11), 200n);
  t.equal(at(10 + GENERATING_DEPTH - 1), 200n, 'still in force at the lower bound');
  t.equal(at(10 + GENERATING_DEPTH), 700n, 'replaced in the block of the lower bound');
});

t.test('an account that came later had nothing before', async (t) => {
  const ledger = historyOf(new Map([[5, 300n]]));
  t.equal(generatingBalance(ledger, address, 4), 0n);
  t.equal(generatingBalance(ledger, address, 5), 0n);
  t.equal(generatingBalance(ledger, address, 5 + GENERATING_DEPTH - 2), 0n);
  t.equal(generatingBalance(ledger, address, 5 + GENERATING_DEPTH - 1), 300n);
  t.equal(generatingBalance(ledger, new Uint8Array(26), 100), 0n);
});

t.test('scenario 35: leases and the generating balance', async (t) => {
  const ledger = createOverlay(createCommittedView(createMemoryStore(), scheme));
  const lessor = new Uint8Array(26).fill(2);
  const own = { balance: 1_000_000n, leasedIn: 0n, leasedOut: 0n };
  ledger.set(accountHistory, [lessor, 1], own);
  ledger.set(accountHistory, [lessor, 2000], { ...own, leasedOut: 900_000n });
  ledger.set(accountHistory, [address, 1], holding(50n));
  ledger.set(accountHistory, [address, 2000], { ...holding(50n), leasedIn: 900_000n });
  t.equal(generatingBalance(ledger, lessor, 1999), 1_000_000n);
  t.equal(generatingBalance(ledger, lessor, 2000), 100_000n, 'what is leased out is gone at once');
  t.equal(generatingBalance(ledger, address, 2000), 50n);
  t.equal(generatingBalance(ledger, address, 2000 + GENERATING_DEPTH - 2), 50n);
  const after = generatingBalance(ledger, address, 2000 + GENERATING_DEPTH - 1);
  t.equal(after, 900_050n, 'what is leased in counts after a thousand blocks');
});

t.test('any history: the same as looking at every block', async () => {
  const changes = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.bigInt(0n, 99n)), {
    selector: ([height]) => height,
    maxLength: 20,
  });
  const ask = fc.record({
    height: fc.integer({ min: 1, max: 70 }),
    blocks: fc.integer({ min: 1, max: 40 }),
  });
  fc.assert(
    fc.property(changes, ask, (list, { height, blocks }) => {
      const byHeight = new Map(list);
      const ledger = historyOf(byHeight);
      let present = 0n;
      const all: bigint[] = [];
      for (let h = 1; h <= height; h++) {
        present = byHeight.get(h) ?? present;
        all.push(present);
      }
      const [expected] = all.slice(-blocks).sort((a, b) => Number(a - b));
      const found = minimumOver(ledger, address, height, blocks, effective);
      return found === expected;
    }),
  );
});
