// What nobody signed, and a script took while it was there: nobody mines it once the script is gone,
// whatever happens to the nodes that have it, and nobody is blamed for having had it. The cold validator
// of the cluster judges every block.
import t from 'tap';
import { transactionsAt } from '../../../src/chain/store/stored-blocks.ts';
import { assetOf } from '../../../src/ledger/assets.ts';
import { scripts } from '../../../src/ledger/tables.ts';
import type { Tx } from '../../../src/tx/transaction.ts';
import { miners, scheme } from '../../chain/chain-harness.ts';
import { accountScripts, garbage, ScriptedSender, signedBy } from '../../generators/scripted.ts';
import { disagreement } from './checkers.ts';
import { Cluster } from './cluster.ts';
import type { SimNode } from './node.ts';
import { Dice } from './random.ts';
import { isUnsigned, players, scriptedAccounts } from './script-load.ts';
import { LENGTH_MS, memberOf } from './settings.ts';

const [player, other] = players;
const [issuer, dex] = scriptedAccounts.slice(-2) as [typeof player, typeof player];
const ROUNDS_MAX = 12;
const UNSIGNED = 20;
const LATE_MS = 6_000;
const chance = new Dice(1);

t.setTimeout(300_000);

class Story {
  readonly cluster: Cluster;
  readonly sender = new ScriptedSender(scheme);

  constructor(nodes: number) {
    const members = Array.from({ length: nodes }, (_, i) => memberOf(i));
    const rules = { consensus: 'poa', members, quorum: 0 } as const;
    this.cluster = new Cluster({ seed: 24, ...rules, acquainted: true });
    for (const i of members.keys()) this.cluster.start(i);
  }

  get now(): number {
    return this.cluster.world.now;
  }

  node(i: number): SimNode {
    return this.cluster.nodes[i]!;
  }

  /** The number of those that the node takes. */
  async send(i: number, ...txs: readonly Tx[]): Promise<number> {
    const sent = Promise.all(txs.map((tx) => this.cluster.submit(this.node(i), tx)));
    await this.cluster.run(1_000);
    return (await sent).filter((isAccepted) => isAccepted).length;
  }

  until(holds: () => boolean): Promise<boolean> {
    return this.cluster.runUntil(holds, ROUNDS_MAX * LENGTH_MS);
  }

  /** Sends it, and waits until these nodes have the script, or none. */
  async setScript(script: Uint8Array | undefined, nodes: readonly number[]): Promise<boolean> {
    await this.send(nodes[0]!, this.sender.setScript(player, script, this.now));
    return this.until(() => nodes.every((i) => this.hasScript(i) === (script !== undefined)));
  }

  hasScript(i: number): boolean {
    return this.node(i).blockchain.view.get(scripts, player.address) !== undefined;
  }

  /** Signed by nobody, later than what is sent in the next rounds. */
  unsigned(count = UNSIGNED): Tx[] {
    const at = this.now + 2 * LENGTH_MS;
    return Array.from({ length: count }, (_, i) =>
      this.sender.transfer(player, other, at + i, garbage(chance, 1 + (i % 2) * 7)),
    );
  }

  /** In the chain of this node. */
  unsignedIn(i: number): number {
    const { blockchain } = this.node(i);
    const { view } = blockchain;
    const heights = Array.from({ length: blockchain.tip().height }, (_, h) => h + 1);
    return heights.flatMap((height) => transactionsAt(view, height)).filter(isUnsigned).length;
  }

  /** All have one chain again, and nothing waits. */
  isWhole(): boolean {
    const nodes = this.cluster.running();
    const { length } = this.cluster.options.members;
    const isEmpty = nodes.every(({ pool }) => pool.size() === 0);
    return nodes.length === length && isEmpty && disagreement(nodes) === undefined;
  }

  /** The network works: somebody pays, and everybody has it. */
  async goesOn(): Promise<boolean> {
    const { height } = this.node(0).blockchain.tip();
    await this.send(0, this.sender.transfer(other, issuer, this.now, signedBy(other)));
    return this.until(() => this.isWhole() && this.node(0).blockchain.tip().height > height + 2);
  }

  end(): void {
    this.cluster.nothingLost();
    this.cluster.end();
  }
}

for (const nodes of [1, 2, 4]) {
  t.test(`it waits in the journals of ${nodes} nodes that fall together`, async (t) => {
    const story = new Story(nodes);
    const { cluster } = story;
    const all = [...cluster.options.members.keys()];
    await cluster.run(2 * LENGTH_MS);
    t.ok(await story.setScript(accountScripts.anything, all));
    t.equal(await story.send(0, ...story.unsigned()), UNSIGNED, 'the script takes it');
    t.ok(await story.setScript(undefined, all));
    for (const i of all) cluster.kill(i, 2_000);
    t.ok(await story.until(() => cluster.running().length === nodes));
    t.ok(await story.goesOn(), `${disagreement(cluster.running())}`);
    t.equal(story.unsignedIn(0), 0, 'none of it is in the chain');
    story.end();
  });
}

t.test('orders that nobody signed, in journals', async (t) => {
  const story = new Story(2);
  const { cluster, sender } = story;
  const [miner] = miners as [(typeof miners)[0] & object];
  await cluster.run(2 * LENGTH_MS);
  const roles = [sender.permit(miner, issuer, 'issuer', story.now)];
  t.equal(await story.send(0, ...roles, sender.permit(miner, dex, 'dex', story.now)), 2);
  await cluster.run(3 * LENGTH_MS);
  const gold = sender.issue(issuer, undefined, story.now);
  t.equal(await story.send(0, gold), 1);
  t.ok(await story.until(() => assetOf(story.node(1).blockchain.view, gold.id) !== undefined));
  t.ok(await story.setScript(accountScripts.anything, [0, 1]));
  const trades = Array.from({ length: 4 }, (_, i) =>
    sender.trade(
      dex,
      gold.id,
      { of: player, proofs: garbage(chance) },
      { of: issuer, proofs: signedBy(issuer) },
      story.now + 2 * LENGTH_MS + i,
    ),
  );
  t.equal(await story.send(0, ...trades), trades.length, 'the script takes them');
  t.ok(await story.setScript(undefined, [0, 1]));
  for (const i of [0, 1]) cluster.kill(i, 2_000);
  t.ok(await story.until(() => cluster.running().length === 2));
  t.ok(await story.goesOn(), `${disagreement(cluster.running())}`);
  t.equal(story.unsignedIn(0), 0, 'none of them is in the chain');
  story.end();
});

t.test('the blocks that hold it are taken back', async (t) => {
  const story = new Story(4);
  const { cluster } = story;
  await cluster.run(2 * LENGTH_MS);
  t.ok(await story.setScript(accountScripts.anything, [0, 1, 2, 3]));
  cluster.cut([3], [0, 1, 2], ROUNDS_MAX * LENGTH_MS);
  t.equal(await story.send(3, ...story.unsigned()), UNSIGNED);
  t.ok(await story.until(() => story.unsignedIn(3) === UNSIGNED), 'one side mines it');
  t.ok(await story.setScript(undefined, [0, 1, 2]), 'the script goes on the other side');
  t.ok(await story.until(() => !story.hasScript(3)), 'which has the better chain');
  t.ok(cluster.checkers.reorganisations > 0);
  t.ok(await story.goesOn(), `${disagreement(cluster.running())}`);
  t.equal(story.unsignedIn(0), 0, 'none of it is in the chain');
  story.end();
});

for (const [begins, title] of [
  [false, 'it comes from a node that does not know that the script is gone'],
  [true, 'it comes to a node that does not know the script yet'],
] as const) {
  t.test(title, async (t) => {
    const story = new Story(4);
    const { cluster } = story;
    await cluster.run(2 * LENGTH_MS);
    const script = (there: boolean) => (there ? accountScripts.anything : undefined);
    if (!begins) t.ok(await story.setScript(script(true), [0, 1, 2, 3]));
    // Blocks come from its future, and wait.
    story.node(3).clock.set(-LATE_MS);
    t.ok(await story.setScript(script(begins), [0, 1, 2]));
    t.equal(story.hasScript(3), !begins, 'it is a block behind');
    t.equal(await story.send(begins ? 0 : 3, ...story.unsigned()), UNSIGNED);
    t.ok(await story.until(() => story.hasScript(3) === begins), 'all know it');
    story.node(3).clock.set(0);
    t.ok(await story.goesOn(), `${disagreement(cluster.running())}`);
    for (const { name, peers } of cluster.running()) {
      t.equal(peers.sessions.all().length, 3, `${name} has all its peers`);
      t.strictSame(peers.penalties.blacklisted(), [], `${name} refuses nobody`);
    }
    story.end();
  });
}
