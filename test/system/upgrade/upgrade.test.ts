// docs/guide/upgrading.md: four nodes of release 1.1.0 are replaced by this release, one after the other, while
// clients send transfers; then one goes back. `npm run test:upgrade` is the long form.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { run } from '../../cli/run.ts';
import { leftOut } from '../../left-out.ts';
import { temporaryFolder } from '../e2e/dev-node.ts';
import { COMMAND, eventually } from '../e2e/process.ts';
import { oldRelease, whyNoRelease } from './old-release.ts';
import { notMined, startTransfers } from './transfers.ts';
import {
  foundedBy,
  hasPeers,
  headers,
  missedTurns,
  NODES,
  type UpgradedNetwork,
  type UpgradedNode,
} from './upgraded-network.ts';

/** Release 1.1.0. */
const COMMIT = '6007327';
const ROUND_MS = 1000;
/** How often all nodes go forward and one goes back. */
const ROUNDS = Number(process.env['UPGRADE_ROUNDS'] ?? 1);
/** How long all nodes run between two steps. */
const SETTLED_BLOCKS = Number(process.env['UPGRADE_BLOCKS'] ?? 2);
/** What other nodes may miss where the machine has other work to do: a tenth of all rounds. */
const MISSED_SHARE = 0.1;

t.setTimeout(300_000 * ROUNDS);

const reason = await whyNoRelease(COMMIT);
const skip = reason !== undefined && leftOut(reason);

t.test('a rolling upgrade under load', { skip }, async (t) => {
  const old = await oldRelease(COMMIT, join(temporaryFolder(t), 'old'));
  const network = await foundedBy(t, old, ROUND_MS);
  const { nodes } = network;
  await Promise.all(nodes.map((node) => node.start(old)));
  await Promise.all(nodes.map((node) => hasPeers(node, NODES - 1)));
  const from = (await nodes[0]!.rest.height()) + 1;
  const load = startTransfers(network);
  await blocksLater(nodes, NODES + 1);

  for (let round = 1; round <= ROUNDS; round++) {
    for (const [i, node] of nodes.entries()) {
      await replaced(t, network, node, COMMAND);
      t.pass(`node ${i + 1} is upgraded`);
    }
    // Nothing that this release has written keeps the earlier one away.
    await replaced(t, network, nodes[NODES - 1]!, old);
    t.pass('the last node is back at the earlier release');
  }
  await replaced(t, network, nodes[NODES - 1]!, COMMAND);
  await load.end();

  t.ok(load.acknowledged.length > 100, `${load.acknowledged.length} transfers`);
  for (const node of nodes)
    t.strictSame(await notMined(node, load.acknowledged), [], 'all are in blocks');
  await turns(t, nodes, from);
  await nobodyIsBlamed(t, network);
  await oneState(t, nodes);
});

/** Stops a node and starts this program on its folder; resolves when it takes part again. */
async function replaced(
  t: Test,
  { nodes }: UpgradedNetwork,
  node: UpgradedNode,
  program: string,
): Promise<void> {
  t.strictSame(await node.stop(), { code: 0, signal: null }, 'it ends in good order');
  await node.start(program);
  await hasPeers(node, NODES - 1);
  const others = nodes.filter((other) => other !== node);
  const tip = Math.max(...(await Promise.all(others.map(({ rest }) => rest.height()))));
  await eventually('the tip', async () => (await node.rest.height()) >= tip || undefined);
  await eventually(`a block of ${node.owner}`, async () => {
    const height = await others[0]!.rest.height();
    const last = await headers(others[0]!.rest, Math.max(tip, height - NODES), height);
    return last.some(({ generator }) => generator === node.owner) || undefined;
  });
  await blocksLater(nodes, SETTLED_BLOCKS);
}

async function blocksLater([first]: readonly UpgradedNode[], count: number): Promise<void> {
  const height = await first!.rest.height();
  await eventually(`${count} blocks`, async () =>
    (await first!.rest.height()) >= height + count ? true : undefined,
  );
}

/** Each node was away as often as it was replaced, and only its own turns went by meanwhile. */
async function turns(t: Test, nodes: readonly UpgradedNode[], from: number): Promise<void> {
  const { rest } = nodes[0]!;
  const blocks = await headers(rest, from, await rest.height());
  const missed = missedTurns(blocks, ROUND_MS);
  const restarts = (i: number): number => ROUNDS + (i === NODES - 1 ? ROUNDS + 1 : 0);
  const counts = nodes.map(({ owner }) => missed.get(owner) ?? 0);
  t.comment(`${blocks.length} blocks; turns without a block, by node: ${counts.join(', ')}`);
  // A restart takes two turns at most where nothing else keeps the machine busy.
  const beyond = counts.map((count, i) => Math.max(0, count - 2 * restarts(i)));
  const sum = beyond.reduce((total, count) => total + count, 0);
  t.ok(sum <= blocks.length * MISSED_SHARE, `${sum} turns were missed beside the restarts`);
}

async function nobodyIsBlamed(t: Test, { nodes }: UpgradedNetwork): Promise<void> {
  for (const { log, owner, rest } of nodes) {
    t.strictSame((await rest.get('/peers/blacklisted')).body, []);
    t.notMatch(log(), 'peer.offence');
    const { body } = await rest.get(`/permissions/${owner}`);
    t.match(body, { roles: [] });
    t.notMatch(JSON.stringify(body), 'banned');
    t.notMatch(log(), /"level":"(error|fatal)"/);
  }
}

async function oneState(t: Test, nodes: readonly UpgradedNode[]): Promise<void> {
  const heights = await Promise.all(nodes.map(({ rest }) => rest.height()));
  const height = Math.min(...heights) - 2;
  for (const node of nodes) await node.stop();
  const hashes = new Set<unknown>();
  for (const { config } of nodes) {
    const { stdout, stderr } = await run(['chain', 'hash', config, String(height)]);
    hashes.add(stdout === '' ? stderr : (JSON.parse(stdout) as { stateHash: string }).stateHash);
  }
  t.equal(hashes.size, 1, [...hashes].join(' '));
}
