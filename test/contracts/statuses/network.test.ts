// Outcomes of contract transactions in a network: two miners with an engine, one without, and a
// watcher.
import t, { type Test } from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { statusLimits } from '../../../src/base/limits/status-limits.ts';
import { STATUS_NOTICES } from '../../../src/contracts/statuses/status-messages.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { permit } from '../../../src/tx/types/102-permit.ts';
import { createContract } from '../../../src/tx/types/103-create-contract.ts';
import { signed } from '../../chain/chain-harness.ts';
import { type Cluster, type ClusterNode, cluster } from '../../network/cluster.ts';
import { hashOfImage, type Program, simulatedContainers } from '../../simulated/containers.ts';
import { sum } from '../contract-node.ts';

const REPEAT_MS = statusLimits.repeatPause.value;

const refusing: Program = () => ({ kind: 'error', code: 3, message: 'no funds' });

interface Network {
  readonly at: Cluster;
  /** All make blocks; the first ones have an engine. */
  readonly nodes: readonly ClusterNode[];
  readonly watcher: ClusterNode;
  readonly all: readonly ClusterNode[];
}

/** `engines`: how many of the three miners have one. */
async function network(t: Test, engines = 2): Promise<Network> {
  const miners = ['one', 'two', 'three'];
  const at = await cluster(t, { miners, others: ['watcher'] });
  const nodes = await Promise.all(
    miners.map((name, i) =>
      at.start(name, {
        ...(i >= engines
          ? {}
          : {
              containers: (clock) =>
                simulatedContainers({
                  clock,
                  programs: { sum, refusing },
                  startMs: 100,
                  timeoutMs: 1_000,
                  callMs: () => 10,
                }),
            }),
      }),
    ),
  );
  const watcher = await at.start('watcher', { set: ['network.mode=watcher'] });
  await at.rounds(2);
  return { at, nodes, watcher, all: [...nodes, watcher] };
}

/** A 103 of this image in the pool of the third node. */
async function create({ at, nodes }: Network, image: string): Promise<Tx> {
  const [, , third] = nodes;
  const tx = signed(
    createContract,
    third!,
    {
      image,
      imageHash: hashOfImage(image),
      contractName: image,
      params: [],
      timestamp: at.clock.now(),
      fee: 100_000_000n,
    },
    1,
  );
  await third!.node.pool.submit(tx);
  return tx;
}

const said = ({ node }: ClusterNode, { id }: Tx): string[] =>
  node.statuses.of(id).map(({ status, message }) => `${status} ${message}`);

t.test('success is known to every node within a round, and after a restart', async (t) => {
  const net = await network(t);
  const tx = await create(net, 'sum');
  await net.at.rounds(5);
  for (const node of net.all) {
    const list = said(node, tx);
    t.equal(list.at(-1), 'Success Contract transaction successfully mined', node.name);
  }
  const again = await net.nodes[2]!.restart();
  t.strictSame(said(again, tx).at(-1), 'Success Contract transaction successfully mined');
});

t.test('an error of both miners removes the transaction where none is executed', async (t) => {
  const net = await network(t);
  const tx = await create(net, 'refusing');
  await net.at.rounds(8);
  for (const node of net.all) {
    t.strictSame(said(node, tx), ['Error no funds', 'Error no funds'], node.name);
    const senders = node.node.statuses.of(tx.id).map((one) => base58.encode(one.senderPublicKey));
    t.equal(new Set(senders).size, 2, 'each miner once');
  }
  await net.at.seconds(60);
  for (const { node, name } of net.nodes) t.equal(node.pool.get(tx.id), undefined, name);
  t.match(net.nodes[2]!.node.pool.dropped(tx.id), /^2 miners have refused/);
  t.match(net.nodes[0]!.node.pool.dropped(tx.id), 'no funds');
});

t.test('a refusal that was lost reaches the others later', async (t) => {
  const net = await network(t);
  const [one, two, third] = net.nodes as [ClusterNode, ClusterNode, ClusterNode];
  await two.stop();
  let lost = 0;
  net.at.faults = ({ protocol, message }) => {
    if (!protocol.includes(STATUS_NOTICES) || message.length === 0) return {};
    lost++;
    return { lost: true };
  };
  const tx = await create(net, 'refusing');
  await net.at.rounds(8);
  t.ok(lost > 0);
  t.match(one.node.pool.dropped(tx.id), 'no funds');
  t.strictSame(said(third, tx), []);
  net.at.faults = () => ({});
  await net.at.seconds(60);
  t.not(third.node.pool.get(tx.id), undefined, 'it still waits');
  await net.at.seconds(REPEAT_MS / 1000 + 60);
  t.strictSame(said(third, tx), ['Error no funds']);
  t.equal(third.node.pool.get(tx.id), undefined);
});

t.test('who may make no blocks any more hears those that may, also with an engine', async (t) => {
  const net = await network(t, 3);
  const [one, two, three] = net.nodes as [ClusterNode, ClusterNode, ClusterNode];
  for (const [of, opType, role] of [
    [two, 'add', 'banned'],
    [three, 'remove', 'miner'],
  ] as const) {
    const target = { kind: 'address', bytes: of.address };
    const fields = { target, opType, role, timestamp: net.at.clock.now(), fee: permit.fee };
    await one.node.pool.submit(signed(permit, one, fields as never, 1));
  }
  await net.at.rounds(4);
  const tx = await create(net, 'refusing');
  await net.at.rounds(8);
  await net.at.seconds(60);
  t.equal(one.node.pool.dropped(tx.id), 'no funds');
  for (const { node, name } of [two, three]) {
    t.equal(node.pool.dropped(tx.id), '1 miner has refused the transaction', name);
  }
});
