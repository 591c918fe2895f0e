// A transaction that builds on a block which a neighbour does not have yet: the neighbour refuses it,
// and asks for it again once the block is there.
import t, { type Test } from 'tap';
import { confirmedHeight } from '../../src/chain/store/stored-blocks.ts';
import { blockProtocols } from '../../src/network/messages/block-messages.ts';
import { txLimits } from '../../src/network/messages/transaction-messages.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { account, payment } from '../chain/chain-harness.ts';
import { type ClusterNode, cluster, tipOf } from './cluster.ts';

const carol = account('carol without funds');
const QUIET: readonly string[] = [blockProtocols.newBlock, blockProtocols.head];

/** A relay with a block that its neighbour has not heard of, and nobody who makes another one. */
async function scene(t: Test) {
  const at = await cluster(t, {
    miners: ['maker', 'late', 'relay', 'other'],
    set: ['miner.quorum=0'],
  });
  const idle = { set: ['miner.enable=no'] };
  const maker = await at.start('maker');
  const [late, relay] = [await at.start('late', idle), await at.start('relay', idle)];
  const other = await at.start('other', idle);
  let isDeaf = false;
  at.faults = ({ to, protocol }) => ({
    lost: isDeaf && to === late.host && QUIET.some((name) => protocol.endsWith(name)),
  });
  await at.rounds(4);
  isDeaf = true;
  const funds = payment(maker, carol, 10_00000000n, at.clock.now());
  await maker.node.pool.submit(funds);
  for (let i = 0; i < 100 && !isMined(relay, funds); i++) await at.seconds(1);
  if (!isMined(relay, funds) || isMined(late, funds)) throw new Error('a block ahead');
  await maker.stop();
  await at.seconds(1);
  const listen = (): void => {
    isDeaf = false;
  };
  return { at, late, relay, other, listen };
}

const isMined = ({ node }: ClusterNode, { id }: Tx): boolean =>
  confirmedHeight(node.blockchain.view, id) !== undefined;

t.test('what a head refuses is asked for again after the next block', async (t) => {
  const { at, late, relay, listen } = await scene(t);
  const tx = payment(carol, relay, 1n, at.clock.now());
  await relay.node.pool.submit(tx);
  await at.seconds(5);
  t.ok(late.log.of('tx.refused').length >= 1, 'it has no funds yet');
  t.equal(late.node.pool.get(tx.id), undefined);
  listen();
  await at.seconds(30);
  t.equal(tipOf(late).height, tipOf(relay).height);
  t.same(late.node.pool.get(tx.id)?.id, tx.id, 'within seconds of the block');
  for (const node of [late, relay]) t.same(node.log.of('peer.offence'), []);
});

t.test('more than one request holds, of two peers that have all of it', async (t) => {
  const { at, late, relay, other, listen } = await scene(t);
  const txs = Array.from({ length: 2 * txLimits.countMax - 200 }, (_, i) =>
    payment(carol, relay, BigInt(1 + i), at.clock.now()),
  );
  await Promise.all(txs.map((tx, i) => [relay, other][i % 2]!.node.pool.submit(tx)));
  await at.seconds(5);
  t.ok(late.log.of('tx.refused').length > txLimits.countMax, 'it has no funds yet');
  listen();
  await at.seconds(30);
  t.equal(txs.filter(({ id }) => late.node.pool.get(id) !== undefined).length, txs.length);
  for (const node of [late, relay, other]) t.same(node.log.of('peer.offence'), []);
});
