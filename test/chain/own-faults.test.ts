// What fails on this machine says nothing about a block: it is neither refused nor remembered as
// invalid, on any route into the chain, and is taken when the machine works again.
import t from 'tap';
import { VerifyThreadError } from '../../src/adapters/verify/signature-pool.ts';
import { OwnFailure } from '../../src/base/errors.ts';
import type { LogFields } from '../../src/base/ports/log.ts';
import type { Verifier } from '../../src/base/ports/verifier.ts';
import { type Block, blockId, decodeBlock } from '../../src/block/block.ts';
import { importBlocks } from '../../src/chain/import/import-blocks.ts';
import { rebuild } from '../../src/chain/store/rebuild.ts';
import { blockAt } from '../../src/chain/store/stored-blocks.ts';
import { transactionIds, undo } from '../../src/ledger/tables.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import { mine, newChain, payment, quiet, scheme, users, verifier } from './chain-harness.ts';
import { createTestForkChoice } from './fork-harness.ts';

const [alice, bob] = users;

/** What fails: nothing, writes, or what is read of one table. */
type Broken = undefined | 'writes' | { readonly table: number; readonly isGone: boolean };

function brokenStore() {
  const store = createMemoryStore();
  const state: { broken: Broken } = { broken: undefined };
  const fault = (syscall: string) =>
    Object.assign(new Error(`${syscall} failed`), { code: 'EIO', errno: -5, syscall });
  return {
    state,
    store: {
      ...store,
      get(table: number, key: Uint8Array) {
        const { broken } = state;
        if (typeof broken !== 'object' || broken.table !== table) return store.get(table, key);
        if (broken.isGone) return undefined;
        throw fault('read');
      },
      async write(...args: Parameters<typeof store.write>) {
        if (state.broken === 'writes') throw fault('write');
        return store.write(...args);
      },
    },
  };
}

/** Blocks above the genesis, as they come over the wire; `skip` makes another chain, of less score. */
async function blocksOf(count: number, amount: bigint): Promise<{ blocks: Block[]; time: number }> {
  const source = await newChain();
  const blocks: Block[] = [];
  for (let i = 0; i < count; i++) {
    const block = await mine(source, [payment(alice, bob, amount, source.clock.time)]);
    blocks.push(decodeBlock(block.bytes, scheme));
  }
  return { blocks, time: source.clock.time };
}

async function receiver() {
  const { state, store } = brokenStore();
  const at = await newChain(store);
  const lines: LogFields[] = [];
  const log = { ...quiet, warn: (event: string) => void lines.push({ event }) };
  const threads: { dead: boolean } = { dead: false };
  const mortal: Verifier = {
    ...verifier,
    async verify(items) {
      if (threads.dead) throw new VerifyThreadError('threads keep dying');
      return verifier.verify(items);
    },
  };
  const fork = createTestForkChoice(at, { log, verifier: mortal });
  return { ...at, state, fork, lines, threads };
}

const ROUTES = ['gossip', 'sync', 'reorganisation'] as const;
const FAULTS = ['writes', 'reads', 'threads'] as const;

for (const route of ROUTES) {
  for (const fault of FAULTS) {
    t.test(`${route}, while there are no ${fault}`, async (t) => {
      const { blocks, time } = await blocksOf(3, 5n);
      const { blockchain, clock, fork, state, lines, threads } = await receiver();
      clock.time = time;
      if (route === 'reorganisation') {
        const other = await blocksOf(1, 6n);
        t.equal((await fork.offer(other.blocks[0]!)).kind, 'adopted');
      }
      const offer = async () =>
        route === 'gossip'
          ? fork.offer(blocks[0]!, { isSigned: fault !== 'threads' })
          : fork.adopt(await Promise.all(blocks.map((block) => fork.check(block))));
      const { height, id } = blockchain.tip();
      if (fault === 'writes') state.broken = 'writes';
      if (fault === 'reads') state.broken = { table: transactionIds.id, isGone: false };
      threads.dead = fault === 'threads';
      await t.rejects(offer(), 'there is no verdict');
      state.broken = undefined;
      threads.dead = false;
      t.strictSame([blockchain.tip().height, blockchain.tip().id], [height, id]);
      for (const block of blocks)
        t.notOk(fork.invalid.has(blockId(block)), 'nothing is remembered');
      t.strictSame(lines, [], 'no block is refused');
      t.equal((await offer()).kind, 'adopted', 'the same blocks, later');
      t.notOk(blockchain.isFailing());
    });
  }
}

t.test('the record that would undo a block is not kept', async (t) => {
  const { blocks, time } = await blocksOf(3, 5n);
  const other = await blocksOf(1, 6n);
  const { clock, fork, state } = await receiver();
  clock.time = time;
  t.equal((await fork.offer(other.blocks[0]!)).kind, 'adopted');
  state.broken = { table: undo.id, isGone: true };
  const checked = await Promise.all(blocks.map((block) => fork.check(block)));
  await t.rejects(fork.adopt(checked), OwnFailure);
  await t.rejects(fork.examine(blocks[0]!.header), OwnFailure);
  for (const block of blocks) t.notOk(fork.invalid.has(blockId(block)));
});

t.test('a refusal is remembered as before', async (t) => {
  const { blocks, time } = await blocksOf(2, 5n);
  const { clock, fork } = await receiver();
  clock.time = time;
  const orphan = blocks[1]!;
  const { bytes } = orphan;
  const forged = decodeBlock(bytes.slice(), scheme);
  forged.header.signature[5]! ^= 1;
  t.match(await fork.offer(forged), { kind: 'invalid', isForged: true });
  t.notOk(fork.invalid.has(blockId(forged)), 'but for one that nobody signed');
});

t.test('an import ends with the failure, and goes on later', async (t) => {
  const { blocks, time } = await blocksOf(4, 5n);
  const { blockchain, clock, state } = await receiver();
  clock.time = time;
  state.broken = 'writes';
  const options = { from: 2 };
  await t.rejects(importBlocks(blockchain, verifier, blocks, options), OwnFailure);
  t.equal(blockchain.tip().height, 1);
  state.broken = undefined;
  t.equal(await importBlocks(blockchain, verifier, blocks, options), 4);
});

t.test('a rebuild does not give up the blocks that the new store does not take', async (t) => {
  const source = createMemoryStore();
  const from = await newChain(source);
  for (let i = 0; i < 3; i++) await mine(from);
  const rows = (of: number) =>
    source
      .dump()
      .filter(({ table }) => table === of)
      .map(({ key, value }) => [key, value!] as const);
  const { blockchain, clock, state } = await receiver();
  clock.time = from.clock.time;
  state.broken = 'writes';
  await t.rejects(rebuild(blockchain, verifier, rows, quiet), OwnFailure);
  state.broken = undefined;
  t.same(await rebuild(blockchain, verifier, rows, quiet), { height: 4, of: 4 });
  t.same(blockAt(blockchain.view, 4)?.bytes, blockAt(from.blockchain.view, 4)?.bytes);
});
