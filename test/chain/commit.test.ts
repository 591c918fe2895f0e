// A commit in progress: readers see the old head until it is on disk, and none of it if it fails.
import t, { type Test } from 'tap';
import type { Block } from '../../src/block/block.ts';
import { decodeBlock } from '../../src/block/block.ts';
import { importBlocks, importLimits } from '../../src/chain/import/import-blocks.ts';
import { findTransaction, tipHeader } from '../../src/chain/store/stored-blocks.ts';
import { accountOf } from '../../src/ledger/accounts.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import { FUNDS, mine, newChain, payment, scheme, users, verifier } from './chain-harness.ts';

const [alice, bob] = users;
const REFUSED = { code: 640, status: 503, message: 'the chain cannot be written to disk' };

/** A store whose writes wait or fail when the test says so. */
function unsteadyStore() {
  let gate: Promise<void> | undefined;
  let arrived = Promise.withResolvers<void>();
  let broken = false;
  const store = createMemoryStore({
    hold: async () => {
      arrived.resolve();
      await gate;
    },
    fail: (step, of) => {
      if (broken && step === of) throw new Error('no space left on device');
    },
  });
  return {
    store,
    break(yes: boolean): void {
      broken = yes;
    },
    /** The next write waits for the returned function. */
    hold(): { readonly held: Promise<void>; release(): void } {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      arrived = Promise.withResolvers<void>();
      return { held: arrived.promise, release: resolve };
    },
  };
}

t.test('readers see all of a commit or nothing, whatever they look at', async (t) => {
  const { store, hold } = unsteadyStore();
  const at = await newChain(store);
  const { view } = at.blockchain;
  const tx = payment(alice, bob, 5n, at.clock.time);
  const seen = () => [
    at.blockchain.tip().height,
    tipHeader(view)?.height,
    accountOf(view, bob.address).balance,
    findTransaction(view, tx.id)?.height,
    at.blockchain.stateHash(2) !== undefined,
  ];
  const before = [1, 1, FUNDS, undefined, false];
  const after = [2, 2, FUNDS + 5n, 2, true];
  const heard: unknown[] = [];
  at.blockchain.listen({ block: () => heard.push(seen()) });
  const { held, release } = hold();
  const mined = mine(at, [tx]);
  await held;
  t.strictSame(seen(), before);
  await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(seen(), before);
  t.strictSame(heard, []);
  release();
  await mined;
  t.strictSame(seen(), after);
  t.strictSame(heard, [after], 'listeners are told in the step that moves the head');
});

t.test('a failed write leaves head, caches and listeners as before, and says so', async (t) => {
  const unsteady = unsteadyStore();
  const at = await newChain(unsteady.store);
  const { blockchain } = at;
  await mine(at, [payment(alice, bob, 5n, at.clock.time)]);
  const rows = unsteady.store.dump();
  const heard: string[] = [];
  blockchain.listen({ block: () => heard.push('block'), rolledBack: () => heard.push('back') });
  unsteady.break(true);
  const tx = payment(alice, bob, 7n, at.clock.time);
  await t.rejects(mine(at, [tx]), REFUSED);
  await t.rejects(blockchain.rollback(1), REFUSED);
  t.equal(blockchain.tip().height, 2);
  t.equal(accountOf(blockchain.view, bob.address).balance, FUNDS + 5n);
  t.strictSame(unsteady.store.dump(), rows);
  t.strictSame(heard, []);
  unsteady.break(false);
  await mine(at, [tx]);
  t.equal(accountOf(blockchain.view, bob.address).balance, FUNDS + 12n);
  t.strictSame(heard, ['block']);
});

async function manyBlocks(
  count: number,
): Promise<{ blocks: Block[]; time: number; hash: unknown }> {
  const source = await newChain();
  const blocks: Block[] = [];
  for (let i = 0; i < count; i++) {
    const txs = [payment(alice, bob, BigInt(i + 1), source.clock.time)];
    blocks.push(decodeBlock((await mine(source, txs)).bytes, scheme));
  }
  const hash = source.blockchain.stateHash(count + 1);
  return { blocks, time: source.clock.time, hash };
}

function smallBatches(t: Test): void {
  const { blocksPerCommit, blocksAhead } = importLimits;
  Object.assign(importLimits, { blocksPerCommit: 4, blocksAhead: 1 });
  t.teardown(() => Object.assign(importLimits, { blocksPerCommit, blocksAhead }));
}

t.test('an import applies the next blocks while a batch is being written', async (t) => {
  smallBatches(t);
  const { blocks, time, hash } = await manyBlocks(21);
  const { store, hold } = unsteadyStore();
  const target = await newChain(store);
  target.clock.time = time;
  const { held, release } = hold();
  // Seven blocks have been applied when the ninth is asked for; the first batch had four.
  const source = function* () {
    for (const [i, block] of blocks.entries()) {
      if (i === 8) {
        t.equal(target.blockchain.tip().height, 1);
        release();
      }
      yield block;
    }
  };
  const heights: number[] = [];
  const imported = importBlocks(target.blockchain, verifier, source(), {
    from: 2,
    onProgress: ({ height }) => heights.push(height),
  });
  await held;
  t.equal(await imported, 21);
  t.strictSame(heights, [5, 9, 13, 17, 21, 22]);
  t.same(target.blockchain.stateHash(22), hash);
});

t.test('a batch that cannot be written ends the import at the one before', async (t) => {
  smallBatches(t);
  const { blocks, time, hash } = await manyBlocks(15);
  const unsteady = unsteadyStore();
  const target = await newChain(unsteady.store);
  target.clock.time = time;
  const options = {
    from: 2,
    onProgress: ({ height }: { height: number }) => unsteady.break(height >= 5),
  };
  await t.rejects(importBlocks(target.blockchain, verifier, blocks, options), REFUSED);
  t.equal(target.blockchain.tip().height, 5);
  unsteady.break(false);
  t.equal(await importBlocks(target.blockchain, verifier, blocks, { from: 2 }), 11);
  t.same(target.blockchain.stateHash(16), hash);
});
