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
import type { Journal, Store } from '../../src/base/ports.ts';
import { decodeBlock } from '../../src/block/block.ts';
import { headerRowAt } from '../../src/chain/stored-blocks.ts';
import { tables } from '../../src/ledger/tables.ts';
import { createUnfinishedBlock } from '../../src/miner/unfinished-block.ts';
import { readRecord } from '../../src/miner/used-turns.ts';
import { ROUND_MS, type WholeNode, wholeNode } from '../node/in-process.ts';
import { memoryLog } from '../node/memory-ports.ts';

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
            const { bytes } = readRecord(record);
            claimed.push(base58.encode(decodeBlock(bytes!, ports.scheme).header.signature));
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
  return { whole, disk, claimed, again, path };
}

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

t.test('a sealed block that breaks a rule is given up', async (t) => {
  const { whole } = await nodeOnDisk(t, 'poa');
  await until(whole, () => tip(whole).height === 3);
  await whole.stop();
  const { blockchain } = whole.node;
  const [bytes] = [new Uint8Array(10), new Uint8Array(0)];
  const log = memoryLog();
  const turns = (block: Uint8Array) => ({
    newest: () => ({ turn: 'round 9', bytes: block }),
    claim: async () => undefined,
  });
  const unreadable = createUnfinishedBlock(turns(bytes), { blockchain, clock: whole.clock, log });
  t.notOk(unreadable.waits());
  t.equal(log.of('miner.sealed-unreadable').length, 1);

  await whole.clock.advance(2 * ROUND_MS);
  const good = await whole.forge();
  await blockchain.rollback(3);
  const forged = good.bytes.slice();
  forged[forged.length - 1]! ^= 1;
  const bad = createUnfinishedBlock(turns(forged), { blockchain, clock: whole.clock, log });
  t.ok(bad.waits());
  await bad.finish();
  t.notOk(bad.waits());
  t.equal(log.of('miner.sealed-refused').length, 1);
  t.equal(tip(whole).height, 3);

  const late = createUnfinishedBlock(turns(good.bytes), { blockchain, clock: whole.clock, log });
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
