// docs/guide/upgrading.md: four nodes of release 1.1.0 are replaced by this release, one after the other, while
// clients send transfers; then one goes back. `npm run test:upgrade` is the long form.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { run } from '../../cli/run.ts';
import { leftOut } from '../../left-out.ts';
import { temporaryFolder } from '../e2e/dev-node.ts';
import { COMMAND, eventually } from '../e2e/process.ts';
import { type Absence, missedTurns, unexplained } from '../missed-turns.ts';
import { placeRelease, whyNoRelease } from './old-release.ts';
import { notMined, startTransfers } from './transfers.ts';
import {
  foundedBy,
  hasPeers,
  headers,
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
/** Of all rounds other nodes may miss so many, where the machine has other work to do. */
const MISSED_SHARE = 0.1;

/** What is shown of the log of a node that does not take part. */
const LOG_TAIL = 4000;

t.setTimeout(300_000 * ROUNDS);

const reason = await whyNoRelease(COMMIT);
const skip = reason !== undefined && leftOut(reason);

t.test('a rolling upgrade under load', { skip }, async (t) => {
  const folder = join(temporaryFolder(t), 'old');
  await placeRelease(COMMIT, folder);
  const old = join(folder, 'bin/platform-node');
  const network = await foundedBy(t, folder, ROUND_MS);
  const { nodes } = network;
  await Promise.all(nodes.map((node) => node.start(old)));
  await Promise.all(nodes.map((node) => hasPeers(node, NODES - 1)));
  const from = (await nodes[0]!.rest.height()) + 1;
  const load = startTransfers(network);
  await blocksLater(nodes, NODES + 1);

  const absences: Absence[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    for (const [i, node] of nodes.entries()) {
      absences.push(await replaced(t, network, node, COMMAND));
      t.pass(`node ${i + 1} is upgraded`);
    }
    // Nothing that this release has written keeps the earlier one away, which reads all but the pool.
    const last = nodes[NODES - 1]!;
    load.spare(last);
    await blocksLater(nodes, NODES);
    absences.push(await replaced(t, network, last, old));
    load.spare(undefined);
    t.pass('the last node is back at the earlier release');
  }
  absences.push(await replaced(t, network, nodes[NODES - 1]!, COMMAND));
  await load.end();

  t.ok(load.acknowledged.length > 100, `${load.acknowledged.length} transfers`);
  for (const node of nodes) {
    const lost = await notMined(node, load.acknowledged);
    t.strictSame(lost, [], 'all are in blocks');
    for (const { id } of lost) for (const { log } of nodes) t.comment(linesWith(log(), id));
  }
  await turns(t, nodes, from, absences);
  await nobodyIsBlamed(t, network);
  await oneState(t, nodes);
});

const linesWith = (log: string, id: string): string =>
  log
    .split('\n')
    .filter((line) => line.includes(id) || line.includes('"pool.'))
    .join('\n');

/** Stops a node and starts this program on its folder; resolves when it takes part again. */
async function replaced(
  t: Test,
  { nodes }: UpgradedNetwork,
  node: UpgradedNode,
  program: string,
): Promise<Absence> {
  const from = Date.now() - ROUND_MS;
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
  }).catch((cause: unknown) => {
    t.comment(node.log().slice(-LOG_TAIL));
    throw cause;
  });
  const to = Date.now();
  await blocksLater(nodes, SETTLED_BLOCKS);
  return { owners: [node.owner], from, to };
}

async function blocksLater([first]: readonly UpgradedNode[], count: number): Promise<void> {
  const height = await first!.rest.height();
  await eventually(`${count} blocks`, async () =>
    (await first!.rest.height()) >= height + count ? true : undefined,
  );
}

/** A node misses its turns while it is replaced, and no other node misses any. */
async function turns(
  t: Test,
  [first]: readonly UpgradedNode[],
  from: number,
  absences: readonly Absence[],
): Promise<void> {
  const blocks = await headers(first!.rest, from, await first!.rest.height());
  const missed = missedTurns(blocks, ROUND_MS);
  const others = unexplained(missed, absences);
  const counts = `${missed.length} turns without a block, ${others.length} of others`;
  t.ok(others.length <= blocks.length * MISSED_SHARE, `${blocks.length} blocks, ${counts}`);
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
