// The cold validator takes what honest nodes take, on every branch, and names what is wrong with the
// rest.
import t from 'tap';
import { blockId } from '../../src/block/block.ts';
import { blockAt } from '../../src/chain/store/stored-blocks.ts';
import { accountScripts, garbage, ScriptedSender, signedBy } from '../generators/scripted.ts';
import { Cluster } from '../system/sim/cluster.ts';
import { Dice } from '../system/sim/random.ts';
import { players } from '../system/sim/script-load.ts';
import { LENGTH_MS, memberOf } from '../system/sim/settings.ts';
import { type Account, remade, scheme } from './chain-harness.ts';
import { ColdValidator } from './cold-validator.ts';

const [player, other] = players;
const sender = new ScriptedSender(scheme);
const chance = new Dice(1);

async function network(nodes: number): Promise<Cluster> {
  const members = Array.from({ length: nodes }, (_, i) => memberOf(i));
  const rules = { consensus: 'poa', members, quorum: 0 } as const;
  const cluster = new Cluster({ seed: 1, ...rules, acquainted: true });
  for (const i of members.keys()) cluster.start(i);
  await cluster.run(LENGTH_MS);
  return cluster;
}

const validatorOf = ({ config, ground: { genesis } }: Cluster): ColdValidator =>
  new ColdValidator({ config, genesis, scheme });

function blocksOf(cluster: Cluster, i = 0) {
  const { blockchain } = cluster.nodes[i]!;
  return Array.from({ length: blockchain.tip().height - 1 }, (_, j) => ({
    block: blockAt(blockchain.view, j + 2)!,
    stateHash: blockchain.stateHash(j + 2),
  }));
}

t.test('both branches of a divided network', async (t) => {
  const cluster = await network(4);
  cluster.cut([0, 1], [2, 3], 40 * LENGTH_MS);
  await cluster.run(20 * LENGTH_MS);
  const [left, right] = [blocksOf(cluster, 0), blocksOf(cluster, 2)];
  t.not(left.at(-1)!.block.bytes, right.at(-1)!.block.bytes);
  const cold = validatorOf(cluster);
  // In turns, so that each branch waits for the other one.
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    for (const { block, stateHash } of [left[i], right[i]].filter((one) => one !== undefined)) {
      const judged = await cold.judge(block.bytes);
      t.strictSame(judged, { id: blockId(block), height: i + 2, stateHash });
    }
  }
  const different = new Set([...left, ...right].map(({ block }) => blockId(block).join()));
  t.equal(cold.count, different.size, 'each of them once');
  t.equal(cluster.cold.count, different.size, 'and so does that of the simulation');
  await t.rejects(validatorOf(cluster).judge(left.at(-1)!.block.bytes), {
    message: /nobody knows/,
  });
  cluster.end();
});

t.test('a branch that has waited behind many others', async (t) => {
  const cluster = await network(1);
  await cluster.run(4 * LENGTH_MS);
  const [first, second, third] = blocksOf(cluster);
  const cold = validatorOf(cluster);
  for (const one of [first, second]) await cold.judge(one!.block.bytes);
  const { block } = second!;
  for (let i = 0; i < 6; i++) {
    const { bytes } = sender.transfer(other, player, block.header.timestamp, signedBy(other));
    await cold.judge(remade(block, memberOf(0).account, { transactions: [bytes] }).bytes);
  }
  const { height, stateHash } = await cold.judge(third!.block.bytes);
  t.strictSame([height, stateHash], [4, third!.stateHash]);
  cluster.end();
});

t.test('what nobody signed', async (t) => {
  const cluster = await network(1);
  const { now } = cluster.world;
  const script = accountScripts.anything;
  await Promise.all([
    cluster.submit(cluster.nodes[0]!, sender.setScript(player, script, now)),
    cluster.run(3 * LENGTH_MS),
  ]);
  const blocks = blocksOf(cluster).map(({ block }) => block);
  const last = blocks.pop()!;
  const miner: Account = memberOf(0).account;
  const at = last.header.timestamp;
  const good = sender.transfer(other, player, at, signedBy(other));
  const open = sender.transfer(player, other, at, garbage(chance, 8));
  const bad = sender.transfer(other, player, at, garbage(chance));
  const end = sender.setScript(player, undefined, at);
  const judged = async (...txs: readonly (typeof good)[]) => {
    const cold = validatorOf(cluster);
    for (const { bytes } of blocks) await cold.judge(bytes);
    return cold.judge(remade(last, miner, { transactions: txs.map(({ bytes }) => bytes) }).bytes);
  };
  t.equal((await judged(good, open)).height, blocks.length + 2, 'a script takes it');
  await t.rejects(judged(good, bad, open), {
    message: /^block \d+, \w+, transaction 2 of 3, TransferTransaction \w+: .*doesn't validate/,
  });
  await t.rejects(judged(end, open), { message: /transaction 2 of 2.* must have exactly 1 proof/ });
  const forged = remade(last, miner, {}).bytes.slice();
  forged[forged.length - 1]! ^= 1;
  const cold = validatorOf(cluster);
  for (const { bytes } of blocks) await cold.judge(bytes);
  await t.rejects(cold.judge(forged), { message: /its generator has not signed it/ });
  const { bytes } = remade(last, other, {});
  await t.rejects(cold.judge(bytes), { message: /^block \d+, \w+: .*not a miner/ });
  await t.rejects(cold.judge(bytes.subarray(1)), { message: /^no block/ });
  cluster.end();
});
