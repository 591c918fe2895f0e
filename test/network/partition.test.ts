/** Whole nodes whose network is divided for a while. */

import t, { type Test } from 'tap';
import { equal } from '../../src/base/bytes.ts';
import { findTransaction, headerRowAt } from '../../src/chain/store/stored-blocks.ts';
import { accountOf } from '../../src/ledger/accounts.ts';
import { account, payment } from '../chain/chain-harness.ts';
import { agree, type Cluster, type ClusterNode, cluster, heightsOf, tipOf } from './cluster.ts';

const NAMES = ['one', 'two', 'three', 'four'] as const;
const [bob, carol] = ['bob', 'carol'].map(account) as [Account, Account];
type Account = ReturnType<typeof account>;
const FEE = 1_000_000n;
/** Until broken connections are noticed, and places that failed are dialled again. */
const RECONNECT_SECONDS = 150;

interface Four {
  readonly at: Cluster;
  readonly nodes: readonly ClusterNode[];
  readonly one: ClusterNode;
  readonly four: ClusterNode;
}

async function four(t: Test, set: readonly string[] = []): Promise<Four> {
  const at = await cluster(t, { miners: NAMES, set });
  const nodes = await Promise.all(NAMES.map((name) => at.start(name)));
  const [one, , , last] = nodes as [ClusterNode, ClusterNode, ClusterNode, ClusterNode];
  await at.rounds(4);
  t.ok(agree(nodes), 'one chain before');
  return { at, nodes, one, four: last };
}

const has = ({ node }: ClusterNode, id: Uint8Array): boolean =>
  findTransaction(node.blockchain.view, id) !== undefined;
const balance = ({ node }: ClusterNode, of: Account): bigint =>
  accountOf(node.blockchain.view, of.address).balance;

t.test('scenario 40: two halves for ten blocks', async (t) => {
  const { at, nodes, one, four: other } = await four(t);
  at.part(['one', 'two'], ['three', 'four']);
  const paid = nodes.map((from) => payment(from, bob, 5n, at.clock.now()));
  await one.node.pool.submit(paid[0]!);
  await other.node.pool.submit(paid[3]!);
  const before = tipOf(one).height;
  for (let i = 0; i < 60 && Math.min(...heightsOf(nodes)) < before + 10; i++) await at.rounds(1);
  t.notOk(equal(tipOf(one).id, tipOf(other).id), 'two chains');
  t.ok(Math.min(...heightsOf(nodes)) >= before + 10, 'of ten blocks or more');
  at.heal();
  await at.seconds(RECONNECT_SECONDS);
  t.ok(agree(nodes), 'one chain after');
  const gone = nodes.flatMap(({ log }) => log.of('chain.reorganised'));
  t.ok(
    gone.some(({ depth }) => Number(depth) >= 10),
    'the losing side has taken back its blocks',
  );
  for (const node of nodes) {
    t.ok(has(node, paid[0]!.id) && has(node, paid[3]!.id), 'the transactions of both sides');
    t.equal(balance(node, bob), 10n);
    t.strictSame(node.log.of('peer.offence'), [], 'nobody is to blame');
  }
});

t.test('what was sent on the losing side of a partition builds on one another', async (t) => {
  const { at, nodes, one, four: other } = await four(t);
  at.part(['one', 'two'], ['three', 'four']);
  const sent = [];
  for (const [side, name] of [
    [one, 'left'],
    [other, 'right'],
  ] as const) {
    const purses = [1, 2, 3].map((i) => account(`${name} ${i}`));
    let [from, funds]: [Account, bigint] = [side, 10n * FEE];
    for (const purse of purses) {
      const tx = payment(from, purse, funds, at.clock.now());
      await side.node.pool.submit(tx);
      for (let i = 0; i < 8 && !has(side, tx.id); i++) await at.rounds(1);
      t.ok(has(side, tx.id), 'in a block of its side');
      [from, funds] = [purse, funds - FEE];
      sent.push(tx);
    }
    // The last one waits in the pool while the partition ends.
    if (side === other) sent.push(payment(from, bob, funds, at.clock.now()));
  }
  await other.node.pool.submit(sent.at(-1)!);
  at.heal();
  await at.seconds(RECONNECT_SECONDS);
  t.ok(agree(nodes), 'one chain after');
  for (const node of nodes) {
    t.ok(
      sent.every(({ id }) => has(node, id)),
      'with all of it',
    );
    t.strictSame(node.log.of('pool.dropped'), []);
    t.strictSame(node.log.of('peer.offence'), [], 'nobody is to blame');
  }
});

t.test('scenario 41: the same funds on both sides', async (t) => {
  const { at, nodes, one, four: other } = await four(t);
  at.part(['one', 'two'], ['three', 'four']);
  const all = balance(one, one) - FEE;
  const toBob = payment(one, bob, all, at.clock.now());
  const toCarol = payment(one, carol, all, at.clock.now());
  await one.node.pool.submit(toBob);
  await other.node.pool.submit(toCarol);
  await at.rounds(12);
  t.ok(has(one, toBob.id) && has(other, toCarol.id), 'each side confirms its own');
  at.heal();
  await at.seconds(RECONNECT_SECONDS);
  t.ok(agree(nodes));
  for (const node of nodes) {
    t.equal(Number(has(node, toBob.id)) + Number(has(node, toCarol.id)), 1, 'exactly one');
    t.equal(balance(node, bob) + balance(node, carol), all);
    t.equal(node.node.pool.size(), 0, 'the other is gone');
  }
  const dropped = nodes.flatMap(({ log }) => log.of('pool.dropped'));
  t.match(dropped, [{ why: /negative/i }], 'for a reason that is recorded');
});

t.test('scenario 42: a fork deeper than max-rollback', async (t) => {
  const { at, one, four: other } = await four(t, ['synchronization.max-rollback=5']);
  at.part(['one', 'two'], ['three', 'four']);
  await at.rounds(20);
  const ids = [one, other].map(
    (node) => headerRowAt(node.node.blockchain.view, 12)!.header.signature,
  );
  t.notSame(ids[0], ids[1]);
  at.heal();
  await at.seconds(RECONNECT_SECONDS);
  for (const [i, node] of [one, other].entries()) {
    t.same(
      headerRowAt(node.node.blockchain.view, 12)!.header.signature,
      ids[i],
      'everybody keeps its chain',
    );
  }
  t.ok(
    [one, other].some(({ log }) => log.of('fork.too-deep').length > 0),
    'and says so',
  );
});
