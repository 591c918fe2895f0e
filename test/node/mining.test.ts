// A whole node that makes blocks, and one that checks them, on a clock that the test moves.

import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { decodeBlock } from '../../src/block/block.ts';
import { headerRowAt } from '../../src/chain/store/stored-blocks.ts';
import { bannedMiners } from '../../src/consensus/ban-history.ts';
import { minerQueue } from '../../src/ledger/miner-queue.ts';
import type { Scope } from '../system/e2e/process.ts';
import { ROUND_MS, type WholeNode, wholeNode } from './in-process.ts';

const SYNC_MS = ROUND_MS / 10;
const tip = ({ node }: WholeNode) => node.blockchain.tip();

/** Two nodes of one network: what the first makes, the second is given. */
async function makerAndJudge(t: Scope) {
  const set = ['miner.enable=no'];
  const [maker, judge] = await Promise.all([wholeNode(t, { set }), wholeNode(t, { set })]);
  async function advance(ms: number): Promise<void> {
    await maker.clock.advance(ms);
    await judge.clock.advance(ms);
  }
  await advance(ROUND_MS);
  return { maker, judge, advance };
}

t.test('a node alone makes one block in each round', async (t) => {
  const { node, clock, ...whole } = await wholeNode(t);
  const { timestamp: genesis } = node.blockchain.tip().header;
  await clock.advanceTo(genesis + 20 * ROUND_MS);
  t.equal(node.blockchain.tip().height, 20);
  for (let height = 2; height <= 20; height++) {
    const { timestamp, consensus } = headerRowAt(node.blockchain.view, height)!.header;
    const offset = timestamp - genesis - (height - 1) * ROUND_MS;
    t.ok(offset >= 0 && offset < ROUND_MS - SYNC_MS, `${height} in the working part of its round`);
    t.strictSame(consensus, { kind: 'poa', skippedRounds: 0 });
  }
  const [owner] = whole.accounts;
  t.strictSame(minerQueue(node.blockchain.view, clock.now()).members, [owner.address]);
});

t.test('scenario 18: a network that slept for a thousand rounds goes on', async (t) => {
  const before = await wholeNode(t);
  await before.mine();
  await before.stop();
  const { timestamp } = tip(before).header;
  // Into the sync part of the thousandth lost round, so that the next one is used.
  const round = Math.floor((timestamp - (await genesisTime(before))) / ROUND_MS);
  await before.clock.advanceTo((await genesisTime(before)) + (round + 1001) * ROUND_MS - 1);
  const after = await before.restart();
  await after.mine();
  t.match(tip(after).header.consensus, { kind: 'poa', skippedRounds: 1000, claims: { lost: [] } });
  t.strictSame(bannedAtTip(after), []);
  await after.mine();
  t.strictSame(tip(after).header.consensus, { kind: 'poa', skippedRounds: 1000 });
});

/** One ban of a miner lasts longer than this network. */
const bannedAtTip = (whole: WholeNode) =>
  [...bannedMiners(whole.node.blockchain.view, tip(whole).height, 100)].filter(
    (address) => address !== undefined,
  );

const genesisTime = async ({ node }: WholeNode): Promise<number> =>
  headerRowAt(node.blockchain.view, 1)!.header.timestamp;

t.test('scenario 20: a block from the future is refused and taken later', async (t) => {
  const { maker, judge } = await makerAndJudge(t);
  const block = await maker.produceBlock();
  const { timestamp } = block.header;
  const late = await wholeNode(t, { set: ['miner.enable=no'] });
  await late.clock.advanceTo(timestamp - 101);
  await t.rejects(late.node.blockchain.append(block), {
    message: `BlockFromFuture(${timestamp})`,
  });
  await late.clock.advanceTo(timestamp - 99);
  await late.node.blockchain.append(block);
  t.equal(tip(late).height, 2);
  await judge.node.blockchain.append(block);
  t.strictSame(judge.store.dump(), late.store.dump(), 'both have the same state');
});

t.test('scenario 22: one flipped bit is refused before the state is looked at', async (t) => {
  const { maker, judge } = await makerAndJudge(t);
  const [owner, one] = maker.accounts;
  await maker.node.pool.submit(maker.transfer(owner, one, 5));
  const { bytes } = await maker.produceBlock();
  const before = judge.store.dump();
  const applied: number[] = [];
  judge.node.blockchain.listen({ block: ({ tip }) => applied.push(tip.height) });
  // Bits of the time, the amount of the transfer and the signature itself.
  const places = [8, bytes.length - 300, bytes.length - 64, bytes.length - 1];
  for (const place of places) {
    const forged = bytes.slice();
    forged[place]! ^= 1;
    await t.rejects(async () => judge.node.blockchain.append(decodeBlock(forged, judge.scheme)), {
      code: 101,
    });
  }
  t.strictSame(judge.store.dump(), before);
  t.strictSame(applied, []);
  await judge.node.blockchain.append(decodeBlock(bytes, judge.scheme));
  t.strictSame(applied, [2]);
});

t.test('scenario 29: a block that is there already changes nothing', async (t) => {
  const { maker, judge, advance } = await makerAndJudge(t);
  const first = await maker.produceBlock();
  await advance(ROUND_MS);
  const second = await maker.produceBlock();
  for (const block of [first, second]) await judge.node.blockchain.append(block);
  const before = judge.store.dump();
  let notified = 0;
  judge.node.blockchain.listen({ block: () => notified++ });
  for (const block of [first, second]) {
    for (let i = 0; i < 500; i++) {
      await judge.node.blockchain.append(block).catch((error: Error) => {
        if (!/not a child of the last block/.test(error.message)) throw error;
      });
    }
  }
  t.equal(notified, 0);
  t.equal(tip(judge).height, 3);
  t.strictSame(judge.store.dump(), before);
});

t.test('scenario 30: without trustworthy time no block is made', async (t) => {
  const whole = await wholeNode(t);
  whole.clock.setSynchronized(false);
  await whole.clock.advance(10 * ROUND_MS);
  t.equal(tip(whole).height, 1);
  t.ok(whole.log.of('miner.no-time').length > 0);
  whole.clock.setSynchronized(true);
  await whole.mine();
  t.equal(tip(whole).height, 2);
});

t.test('scenario 31: a miner that loses its role in its own round', async (t) => {
  const { maker, judge, advance } = await makerAndJudge(t);
  const [owner, heir] = maker.accounts;
  await maker.send(owner, { type: 102, target: heir.text, opType: 'add', role: 'miner' });
  await judge.node.blockchain.append(await maker.produceBlock());
  // Two miners take turns: the owner was first, so the round after the next is its own again.
  await advance(2 * ROUND_MS);
  const loss = await maker.send(owner, {
    type: 102,
    target: owner.text,
    opType: 'remove',
    role: 'miner',
    timestamp: maker.clock.now() + 1,
  });
  const block = await maker.produceBlock();
  t.ok(block.header.timestamp < loss.timestamp);
  await judge.node.blockchain.append(block);
  t.equal(judge.heightOf(loss), 3, 'the block with the removal is valid');

  const miners = (time: number) => minerQueue(judge.node.blockchain.view, time).members;
  await advance(ROUND_MS);
  t.strictSame(
    miners(judge.clock.now()).map((one) => base58.encode(one)),
    [heir.text],
  );
  for (let round = 0; round < 4; round++) {
    await t.rejects(maker.produceBlock(), { message: /is(n't a valid miner| not a miner)/ });
    await advance(ROUND_MS);
  }
});

t.test('scenario 32: a quorum that is not there', async (t) => {
  const whole = await wholeNode(t, { set: ['miner.quorum=1'] });
  await whole.clock.advance(10 * ROUND_MS);
  t.equal(tip(whole).height, 1);
  t.strictSame(whole.log.of('miner.no-quorum')[0], {
    why: "Quorum not available '0/1', not forging block",
  });
});

t.test('a tip that is too old is taken for a node that is behind', async (t) => {
  const before = await wholeNode(t);
  await before.mine();
  await before.stop();
  await before.clock.advance(25 * 3_600_000);
  const after = await before.restart();
  await after.clock.advance(10 * ROUND_MS);
  t.equal(tip(after).height, 2);
  t.ok(after.log.of('miner.stale-tip').length > 0);
});

t.test('a block that a crash kept out of the chain is the one of its turn', async (t) => {
  let crashed = false;
  const fail = (): void => {
    if (crashed) throw new Error('the node ends before the block is on disk');
  };
  const before = await wholeNode(t, { store: { fail } });
  await before.mine();
  crashed = true;
  // Into the next round, as far as its block.
  await before.clock.advance(SYNC_MS);
  t.ok(before.log.of('chain.write-failed').length > 0, 'the block was sealed');
  t.equal(tip(before).height, 2);
  crashed = false;
  const after = await before.restart();
  await after.node.blockchain.idle();
  t.equal(tip(after).height, 3, 'at once');
  const { id } = tip(after);
  await after.clock.advance(ROUND_MS - 2 * SYNC_MS);
  t.same(tip(after).id, id, 'the rest of the round brings no second block');
  await after.mine();
  t.equal(tip(after).height, 4);
});
