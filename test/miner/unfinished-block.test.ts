// A node that fails between the claim of a turn and the commit of its block, on a real store and a
// real journal: the same block comes into the chain, and the chain goes on.

import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openJournal } from '../../src/adapters/journal.ts';
import { openLmdbStore } from '../../src/adapters/lmdb/store.ts';
import { base58 } from '../../src/base/base58.ts';
import { equal } from '../../src/base/bytes.ts';
import { apiError } from '../../src/base/errors.ts';
import type { Journal } from '../../src/base/ports/journal.ts';
import type { Store } from '../../src/base/ports/store.ts';
import { blockId, decodeBlock } from '../../src/block/block.ts';
import { blockAt, headerRowAt } from '../../src/chain/store/stored-blocks.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import { tables } from '../../src/ledger/tables.ts';
import { giveUpRemovedBlocks, keepRemovedBlocks } from '../../src/miner/removed-blocks.ts';
import { readRecord, recordOf } from '../../src/miner/slot-records.ts';
import { UnfinishedBlock, type UnfinishedDeps } from '../../src/miner/unfinished-block.ts';
import { UsedSlots } from '../../src/miner/used-slots.ts';
import { openBlockchain } from '../../src/node/open-blockchain.ts';
import { replaced } from '../chain/chain-harness.ts';
import { family } from '../family.ts';
import { ROUND_MS, type WholeNode, wholeNode } from '../node/in-process.ts';
import { emptyRecords, inlineVerifier, memoryJournal, memoryLog } from '../node/memory-ports.ts';

const FULL = new Error('no space left on device');

/** What fails at present. */
interface Disk {
  store: boolean;
  journal: boolean;
}

async function nodeOnDisk(t: Test, consensus: 'poa' | 'pos') {
  const folder = await mkdtemp(join(tmpdir(), 'unfinished-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const disk: Disk = { store: false, journal: false };
  const path = join(folder, 'turns.journal');
  const open: { store?: Store; turns?: Journal } = {};
  /** Every block that was claimed, by its id. */
  const claimed: string[] = [];
  async function close(): Promise<void> {
    await open.turns?.close();
    await open.store?.close();
  }
  async function openAll(): Promise<void> {
    open.store = await openLmdbStore({ folder: join(folder, 'chain'), tables });
    open.turns = openJournal({ path });
  }
  await openAll();
  t.teardown(close);
  const whole = await wholeNode(t, {
    consensus,
    around(ports) {
      const { store, turns } = open as Required<typeof open>;
      return {
        ...ports,
        store: {
          ...store,
          write: (...args) => (disk.store ? Promise.reject(FULL) : store.write(...args)),
        },
        turns: {
          ...turns,
          async append(record) {
            const { kind, bytes } = readRecord(record);
            if (kind === 'sealed') claimed.push(idOf(bytes, ports.scheme));
            if (disk.journal) throw FULL;
            await turns.append(record);
          },
        },
      };
    },
  });
  /** Ends the node where it stands; only what is on disk is left. */
  async function again(): Promise<WholeNode> {
    await whole.stop();
    await close();
    await openAll();
    return whole.restart();
  }
  /** Between two lives. */
  async function stopped(job: (files: Required<typeof open>) => Promise<void>): Promise<void> {
    await whole.stop();
    await close();
    await openAll();
    await job(open as Required<typeof open>);
  }
  return { whole, disk, claimed, again, stopped };
}

const idOf = (bytes: Uint8Array, scheme: ChainScheme): string =>
  base58.encode(blockId(decodeBlock(bytes, scheme)));

const tip = ({ node }: WholeNode) => node.blockchain.tip();

/** Real threads and disks work beside the clock that the test moves. */
async function until(whole: WholeNode, holds: () => boolean): Promise<void> {
  for (let i = 0; i < 2_000 && !holds(); i++) {
    await whole.clock.advance(100);
    await whole.node.blockchain.idle();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  if (!holds()) throw new Error('it does not come');
}

const idAt = (whole: WholeNode, height: number): string =>
  base58.encode(headerRowAt(whole.node.blockchain.view, height)!.header.signature);

for (const consensus of ['poa', 'pos'] as const) {
  t.test(`${consensus}: the end of the node between claim and commit`, async (t) => {
    const { whole, disk, claimed, again } = await nodeOnDisk(t, consensus);
    await until(whole, () => tip(whole).height === 3);
    disk.store = true;
    await until(whole, () => claimed.length === 3);
    t.equal(tip(whole).height, 3);
    disk.store = false;
    const next = await again();
    await until(next, () => tip(next).height >= 6);
    t.equal(idAt(next, 4), claimed[2], 'the block of the first life');
    t.equal(new Set(claimed).size, claimed.length, 'no turn has two blocks');
    t.equal(next.log.of('miner.block-finished').length, 1);
  });

  t.test(`${consensus}: a store that fails for a while`, async (t) => {
    const { whole, disk, claimed } = await nodeOnDisk(t, consensus);
    await until(whole, () => tip(whole).height === 3);
    disk.store = true;
    await until(whole, () => whole.log.of('miner.failed').length >= 3);
    t.equal(tip(whole).height, 3);
    t.equal(claimed.length, 3, 'it seals no second block meanwhile');
    disk.store = false;
    await until(whole, () => tip(whole).height >= 6);
    t.equal(idAt(whole, 4), claimed[2]);
  });

  t.test(`${consensus}: a journal that fails for a while`, async (t) => {
    const { whole, disk, claimed } = await nodeOnDisk(t, consensus);
    await until(whole, () => tip(whole).height === 3);
    disk.journal = true;
    await until(whole, () => claimed.length === 5);
    t.equal(tip(whole).height, 3, 'nothing is committed before its claim is on disk');
    disk.journal = false;
    await until(whole, () => tip(whole).height >= 6);
    t.equal(new Set(claimed.slice(2, 6)).size, 1, 'one block, tried again');
    t.equal(idAt(whole, 4), claimed[2]);
  });
}

t.test('pos: own blocks that leave the chain come back, also in the next life', async (t) => {
  const { whole, disk, claimed, again } = await nodeOnDisk(t, 'pos');
  await until(whole, () => tip(whole).height === 7);
  disk.journal = true;
  await t.rejects(whole.node.blockchain.rollback(3), /cannot be noted on disk/);
  t.equal(tip(whole).height, 7, 'what cannot be kept does not leave the chain');
  disk.journal = false;
  await whole.node.blockchain.rollback(5);
  await until(whole, () => tip(whole).height >= 8);
  await whole.node.blockchain.rollback(3);
  const next = await again();
  await until(next, () => tip(next).height >= 10);
  const ids = Array.from({ length: 9 }, (_, i) => idAt(next, i + 2));
  t.strictSame(ids, claimed.slice(0, 9), 'the chain has what was sealed, and nothing else');
  t.equal(new Set(claimed).size, claimed.length);
});

t.test('poa: a block that leaves the chain after its round does not come back', async (t) => {
  const { whole, claimed } = await nodeOnDisk(t, 'poa');
  await until(whole, () => tip(whole).height === 4);
  await whole.clock.advance(ROUND_MS - (whole.clock.now() % ROUND_MS));
  await whole.node.blockchain.rollback(3);
  await until(whole, () => tip(whole).height >= 5);
  t.not(idAt(whole, 4), claimed[2]);
  t.equal(new Set(claimed).size, claimed.length);
});

t.test('pos: given up by the tool, they stay away, and their turns stay used', async (t) => {
  const { whole, claimed, again, stopped } = await nodeOnDisk(t, 'pos');
  await until(whole, () => tip(whole).height === 6);
  const count = claimed.length;
  const genesis = blockAt(whole.node.blockchain.view, 1)!;
  await stopped(async ({ store, turns: file }) => {
    const { scheme, clock, log, config } = whole;
    const verifier = inlineVerifier(family);
    const opened = await openBlockchain(config, genesis, { scheme, store, verifier, clock, log });
    const turns = new UsedSlots(file, log);
    const ports = { ...opened, clock, turns, own: whole.accounts[0].address };
    const other = { ...ports, own: whole.accounts[1].address };
    t.strictSame(await keepRemovedBlocks(4, other), { kept: 0, given: 0 }, 'blocks of others');
    const unknown = new UsedSlots(memoryJournal(emptyRecords()), log);
    const removed = [5, 6].map((at) => headerRowAt(opened.blockchain.view, at)!.header);
    await giveUpRemovedBlocks(4, { ...ports, turns: unknown });
    t.ok(
      removed.every((header) => unknown.has(opened.consensus.turnOf(header))),
      'turns that were never noted, too',
    );
    opened.blockchain.listen({
      async rollingBack(_txs, above) {
        t.strictSame(await giveUpRemovedBlocks(above, ports), { kept: 0, given: 2 });
        t.strictSame(turns.sealed(), []);
      },
    });
    await opened.blockchain.rollback(4);
  });
  const next = await again();
  for (let i = 0; i < 300; i++) {
    await next.clock.advance(1_000);
    await next.node.blockchain.idle();
  }
  t.equal(tip(next).height, 4, 'the chain of its only miner ends');
  t.equal(claimed.length, count, 'no other block has one of the turns');
});

/** Of a node whose key is in its process. */
function unfinishedBlock(
  slots: UnfinishedDeps['slots'],
  ports: Omit<UnfinishedDeps, 'slots' | 'consensus' | 'key'>,
): UnfinishedBlock {
  const sign = () => Promise.reject(new Error('nothing was asked for'));
  const key = { publicKey: new Uint8Array(32), sign };
  const consensus = { hasEnded: () => false };
  const unfinished = new UnfinishedBlock({ slots, consensus, key, ...ports });
  unfinished.start();
  return unfinished;
}

/** The turns of a miner on the chain of a node that makes no blocks, with a block that is refused. */
async function refusing(t: Test) {
  const whole = await wholeNode(t, { consensus: 'pos', set: ['miner.enable=no'] });
  const { blockchain } = whole.node;
  await whole.clock.advance(100_000);
  const good = await whole.produceBlock();
  await blockchain.rollback(1);
  const forged = good.bytes.slice();
  forged[forged.length - 1]! ^= 1;
  const ports = { blockchain, clock: whole.clock, log: whole.log, rollbackMax: 100 };
  return { whole, good, forged, ports };
}

t.test('a block that is refused before it left the node frees its turn', async (t) => {
  const { whole, good, forged, ports } = await refusing(t);
  const records = emptyRecords();
  const turns = new UsedSlots(memoryJournal(records), whole.log);
  await turns.claim('child of X', forged);
  const unfinished = unfinishedBlock(turns, ports);
  await t.rejects(unfinished.finish(), 'another block may come');
  t.notOk(turns.has('child of X') || unfinished.waits());
  t.notOk(new UsedSlots(memoryJournal(records), whole.log).has('child of X'), 'on disk too');
  await turns.claim('child of X', good.bytes);
  await unfinished.finish();
  t.ok(equal(tip(whole).id, good.header.signature));
});

t.test('a refused block that others may have keeps its turn', async (t) => {
  const { whole, good, forged, ports } = await refusing(t);
  const records = emptyRecords();
  const first = new UsedSlots(memoryJournal(records), whole.log);
  await first.claim('child of X', forged);
  const again = new UsedSlots(memoryJournal(records), whole.log);
  const later = unfinishedBlock(again, ports);
  await later.finish();
  t.ok(again.has('child of X'), 'another life has sealed it');
  t.notOk(later.waits());

  const lost = new UsedSlots(memoryJournal(emptyRecords()), whole.log);
  await lost.claim('child of X', forged);
  await lost.keep({ turn: 'child of X', bytes: forged });
  await unfinishedBlock(lost, ports).finish();
  t.ok(lost.has('child of X'), 'it was in the chain');

  const turns = new UsedSlots(memoryJournal(emptyRecords()), whole.log);
  await turns.claim('child of X', good.bytes);
  const refused = apiError('Invalid', 'a rule of another time');
  const append = async (): Promise<never> => Promise.reject(refused);
  const shown = unfinishedBlock(turns, {
    ...ports,
    blockchain: replaced(ports.blockchain, { append }),
  });
  await ports.blockchain.append(good);
  await ports.blockchain.rollback(1);
  await shown.finish();
  t.ok(turns.has('child of X'), 'it was in the chain of this life');
});

t.test('a clock that is set back, or another head, while the claim is written', async (t) => {
  const { whole, good, ports } = await refusing(t);
  const turns = new UsedSlots(memoryJournal(emptyRecords()), whole.log);
  await turns.claim('child of X', good.bytes);
  let meanwhile = async (): Promise<void> => whole.clock.jump(-1_000_000);
  const claiming = {
    sealed: () => turns.sealed(),
    asked: () => turns.asked(),
    ask: (turn: string, block: Uint8Array) => turns.ask(turn, block),
    free: (turn: string) => turns.free(turn),
    forget: (turn: string) => turns.forget(turn),
    isOfThisLife: (turn: string) => turns.isOfThisLife(turn),
    async claim(turn: string, block: Uint8Array) {
      await turns.claim(turn, block);
      await meanwhile();
    },
  };
  const unfinished = unfinishedBlock(claiming, ports);
  await t.rejects(unfinished.finish(), apiError('BlockFromFuture', good.header.timestamp));
  whole.clock.jump(1_000_000);
  t.ok(turns.has('child of X') && unfinished.waits(), 'it may come later');
  meanwhile = () => ports.blockchain.append(good);
  await unfinished.finish();
  t.ok(equal(tip(whole).id, good.header.signature));
  t.ok(turns.has('child of X'));
  t.strictSame(whole.log.of('miner.sealed-refused'), [], 'nobody says that it breaks a rule');
});

t.test('a lost block is forgotten once its parent is too deep', async (t) => {
  const { whole, good, ports } = await refusing(t);
  const turns = new UsedSlots(memoryJournal(emptyRecords()), whole.log);
  await turns.keep({ turn: 'child of X', bytes: good.bytes });
  await turns.claim('child of Y', whole.node.blockchain.tip().id);
  unfinishedBlock(turns, { ...ports, rollbackMax: 2 });
  for (let i = 2; i <= 4; i++) {
    t.equal(turns.sealed().length, 2, `height ${i}`);
    await whole.clock.advance(100_000);
    await whole.produceBlock();
  }
  t.equal(turns.sealed().length, 1);
  t.ok(turns.has('child of X'));
});

t.test('a sealed block that breaks a rule is given up', async (t) => {
  const { whole } = await nodeOnDisk(t, 'poa');
  await until(whole, () => tip(whole).height === 3);
  await whole.stop();
  const { blockchain } = whole.node;
  const bytes = new Uint8Array(10);
  const log = memoryLog();
  const ports = { blockchain, clock: whole.clock, log, rollbackMax: 100 };
  const turns = (block: Uint8Array) => {
    const record = recordOf({ kind: 'sealed', turn: 'round 9', bytes: block });
    return new UsedSlots(memoryJournal({ ...emptyRecords(), list: [record] }), log);
  };
  const unreadable = unfinishedBlock(turns(bytes), ports);
  t.notOk(unreadable.waits());
  t.equal(log.of('miner.sealed-unreadable').length, 1);

  await whole.clock.advance(2 * ROUND_MS);
  const good = await whole.produceBlock();
  await blockchain.rollback(3);
  const forged = good.bytes.slice();
  forged[forged.length - 1]! ^= 1;
  const bad = unfinishedBlock(turns(forged), ports);
  t.ok(bad.waits());
  await bad.finish();
  t.notOk(bad.waits());
  t.equal(log.of('miner.sealed-refused').length, 1);
  t.equal(tip(whole).height, 3);

  const late = unfinishedBlock(turns(good.bytes), ports);
  whole.clock.jump(-3 * ROUND_MS);
  t.notOk(late.waits(), 'until its time, free turns before it are used');
  await late.finish();
  t.equal(tip(whole).height, 3);
  whole.clock.jump(3 * ROUND_MS);
  t.ok(late.waits());
  await late.finish();
  t.ok(equal(tip(whole).id, good.header.signature));
  t.notOk(late.waits());
});
