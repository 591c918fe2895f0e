/** Whole nodes that join late, only watch, or have a wrong clock. */

import t from 'tap';
import { equal } from '../../src/base/bytes.ts';
import { findTransaction, headerRowAt } from '../../src/chain/store/stored-blocks.ts';
import { txProtocols } from '../../src/network/messages/transaction-messages.ts';
import { account, payment } from '../chain/chain-harness.ts';
import { agree, type ClusterNode, cluster, heightsOf, tipOf } from './cluster.ts';

const bob = account('bob');

/** How many of the blocks above a height this node has made, by the chain of another. */
function madeBy(maker: ClusterNode, { node }: ClusterNode, above: number): number {
  let count = 0;
  for (let height = above + 1; height <= node.blockchain.tip().height; height++) {
    if (equal(headerRowAt(node.blockchain.view, height)!.header.generator, maker.publicKey))
      count++;
  }
  return count;
}

t.test('scenario 32: a quorum that comes and goes', async (t) => {
  const at = await cluster(t, { miners: ['one', 'two', 'three'], set: ['miner.quorum=2'] });
  const one = await at.start('one');
  const two = await at.start('two');
  await at.rounds(5);
  t.strictSame(heightsOf([one, two]), [1, 1], 'one peer is not enough');
  t.match(one.log.of('miner.no-quorum'), [
    { why: "Quorum not available '1/2', not forging block" },
  ]);
  const three = await at.start('three');
  await at.seconds(70);
  const before = tipOf(one).height;
  t.ok(before > 2, 'with two it goes on');
  await three.stop();
  await at.seconds(10);
  const after = tipOf(one).height;
  await at.rounds(5);
  t.equal(tipOf(one).height, after, 'and ends with one again');
});

t.test('scenario 107: a watcher among others', async (t) => {
  const miners = ['one', 'two', 'watcher'];
  const at = await cluster(t, { miners, set: ['miner.quorum=1'] });
  const announced: string[] = [];
  at.faults = ({ to, protocol }) => {
    if (protocol.endsWith(txProtocols.hashes)) announced.push(to);
    return {};
  };
  const one = await at.start('one');
  const watcher = await at.start('watcher', { set: ['network.mode=watcher'] });
  await at.rounds(5);
  t.equal(tipOf(one).height, 1, 'it does not count for the quorum');
  const two = await at.start('two');
  await at.seconds(70);
  t.ok(tipOf(one).height > 2);
  const tx = payment(one, bob, 5n, at.clock.now());
  await one.node.pool.submit(tx);
  await at.rounds(4);
  t.ok(agree([one, two, watcher]), 'it follows the chain');
  t.ok(findTransaction(watcher.node.blockchain.view, tx.id), 'and reads from it');
  t.ok(announced.includes(two.host) || announced.includes(one.host));
  t.notOk(announced.includes(watcher.host), 'nobody tells it of transactions');
  t.equal(madeBy(watcher, one, 1), 0, 'and it makes no block');
  t.throws(() => watcher.node.services.pool.admit?.(), { code: 199 });
});

t.test('scenario 108: a clock that is ahead', async (t) => {
  const miners = ['one', 'two', 'three', 'early'];
  for (const skewMs of [5_000, 8_000]) {
    const at = await cluster(t, { miners });
    const honest = await Promise.all(miners.slice(0, 3).map((name) => at.start(name)));
    const [one] = honest as [ClusterNode];
    const early = await at.start('early', { skewMs });
    await at.rounds(30);
    t.ok(agree(honest), `${skewMs} ms: the others have one chain`);
    t.ok(tipOf(one).height >= 0.7 * 30, `which grows: ${tipOf(one).height}`);
    const slot = (time: number) => time <= at.clock.now() + 99;
    for (let height = 2; height <= tipOf(one).height; height++) {
      const { timestamp } = headerRowAt(one.node.blockchain.view, height)!.header;
      if (!slot(timestamp)) t.fail(`block ${height} is from the future`);
    }
    if (skewMs > 5_000) t.equal(madeBy(early, one, 1), 0, 'its blocks are not taken');
    for (const { log } of honest) t.strictSame(log.of('peer.offence'), [], 'nor punished');
    early.setSkew(0);
    await at.rounds(2);
    const before = tipOf(one).height;
    // It may have been banned for its lost turns; the end of that is not waited for.
    await at.rounds(10);
    t.ok(tipOf(one).height > before + 6);
    t.ok(agree([...honest, early]), 'after a correction it is one of them again');
  }
});
