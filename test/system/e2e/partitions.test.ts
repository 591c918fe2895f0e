/**
 * Row R4 of the reliability goals with real processes and sockets: partitions of every kind, at
 * random, and one chain after each of them. PARTITIONS sets their number, PARTITIONS_SEED the seed.
 */
import t from 'tap';
import { Rng } from '../../generators/random.ts';
import { eventually } from './process.ts';
import { agreed, type NetworkNode, processNetwork, stateHashes } from './process-network.ts';

const PARTITIONS = Number(process.env['PARTITIONS'] ?? 4);
const SEED = Number(process.env['PARTITIONS_SEED'] ?? Date.now() % 1_000_000);
const ROUND_MS = 500;
const FORK_BLOCKS = 10;
const CYCLE_MS_MAX = 60_000;

t.setTimeout(240_000 + PARTITIONS * CYCLE_MS_MAX);

const network = await processNetwork(t, { nodes: 4, roundMs: ROUND_MS });
const { nodes, accounts } = network;
const everybody = [0, 1, 2, 3];
/** Accounts that own no node, one for each node that sends. */
const users = accounts.slice(nodes.length);
await Promise.all(nodes.map(({ start }) => start()));
await network.connected();
await agreed(nodes, 3);

let amount = 1;

/** A transfer that only this node has seen, when it is in the pool. */
async function send(index: number): Promise<string> {
  const { rest, owner } = nodes[index]!;
  const [sender, recipient] = [users[index]!.address, owner.address];
  const fields = { type: 4, version: 2, fee: 1_000_000, attachment: '' };
  const tx = await rest.sign({ ...fields, sender, recipient, amount: amount++ });
  return String((await rest.broadcast(tx))['id']);
}

async function balances({ rest }: NetworkNode): Promise<unknown[]> {
  const asked = accounts.map(({ address }) => rest.get(`/addresses/balance/${address}`));
  return (await Promise.all(asked)).map(({ body }) => (body as { balance: unknown }).balance);
}

/** Opens all ways; gives the rounds from the last new connection until all have one chain. */
async function healed(from: number): Promise<number> {
  network.heal();
  await network.connected();
  const since = Date.now();
  await agreed(nodes, from);
  return (Date.now() - since) / ROUND_MS;
}

const depths = ({ log }: NetworkNode): number[] =>
  [...log().matchAll(/"event":"chain\.reorganised",.*?"depth":(\d+)/g)].map(([, n]) => Number(n));

t.test('scenario 40: two halves that each make ten blocks', async (t) => {
  const start = await agreed(nodes, 3);
  network.split([0, 1], [2, 3]);
  const sent = await Promise.all(everybody.map(send));
  const before = nodes.map((node) => depths(node).length);
  await eventually('ten blocks on both sides', async () => {
    const heights = await Promise.all(nodes.map(({ rest }) => rest.height()));
    return heights.every((height) => height >= start + FORK_BLOCKS + 1) || undefined;
  });
  const rounds = await healed(start + FORK_BLOCKS);
  t.comment(`one chain ${rounds.toFixed(1)} rounds after the last connection`);
  const deepest = nodes.map((node, i) => Math.max(0, ...depths(node).slice(before[i])));
  t.ok(Math.max(...deepest) >= FORK_BLOCKS, `the losing side gave up ${deepest} blocks`);
  for (const { rest } of nodes) for (const id of sent) await rest.mined(id);
  const height = await agreed(nodes, start);
  t.ok(height > start + FORK_BLOCKS);
  const all = await Promise.all(nodes.map(balances));
  for (const other of all) t.strictSame(other, all[0]);
});

type Fault = (rng: Rng) => () => Promise<void>;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Each makes a fault and gives what lets it last. */
const faults: readonly (readonly [name: string, fault: Fault])[] = [
  [
    '2-2',
    (rng) => {
      const other = rng.between(1, 3);
      const rest = everybody.filter((index) => index !== 0 && index !== other);
      network.split([0, other], rest);
      return () => wait(rng.between(2, 8) * ROUND_MS);
    },
  ],
  [
    '1-3',
    (rng) => {
      const alone = rng.below(4);
      network.split(
        [alone],
        everybody.filter((index) => index !== alone),
      );
      return () => wait(rng.between(2, 8) * ROUND_MS);
    },
  ],
  [
    'one-way',
    (rng) => {
      const deaf = rng.below(4);
      for (const from of everybody) if (from !== deaf) network.silence(from, deaf);
      return () => wait(rng.between(2, 16) * ROUND_MS);
    },
  ],
  [
    'flapping',
    (rng) => async () => {
      for (let i = 0; i < 3; i++) {
        network.split([0, rng.between(1, 3)]);
        await wait(rng.between(1, 4) * ROUND_MS);
        network.heal();
        await wait(rng.between(0, 2) * ROUND_MS);
      }
    },
  ],
  [
    'slow',
    (rng) => {
      network.slow(rng.between(50, ROUND_MS));
      return () => wait(rng.between(4, 8) * ROUND_MS);
    },
  ],
];

t.test(`${PARTITIONS} partitions, seed ${SEED}`, async (t) => {
  const rng = new Rng(SEED);
  const took: number[] = [];
  const sent: string[] = [];
  for (let i = 0; i < PARTITIONS; i++) {
    const start = await agreed(nodes, 3);
    // All kinds in turn, so that a short run has them too.
    const [name, fault] = faults[(i + SEED) % faults.length]!;
    const last = fault(rng);
    const [one, other] = [rng.below(4), rng.below(4)];
    sent.push(await send(one), await send(other));
    await last();
    const rounds = await healed(start + 1);
    took.push(rounds);
    t.pass(`${i + 1}: ${name}, one chain after ${rounds.toFixed(1)} rounds`);
  }
  for (const id of sent) await nodes[0]!.rest.mined(id);
  took.sort((a, b) => a - b);
  t.comment(
    `median ${took[took.length >> 1]?.toFixed(1)}, worst ${took.at(-1)?.toFixed(1)} rounds`,
  );
});

t.test('all have one state', async (t) => {
  const height = await agreed(nodes, 3);
  for (const node of nodes) await node.stop();
  const hashes = await stateHashes(nodes, height);
  t.match(hashes[0], /^[0-9a-f]{64}$/);
  t.strictSame(hashes, Array(nodes.length).fill(hashes[0]));
  const deepest = Math.max(0, ...nodes.flatMap(depths));
  t.ok(deepest <= 100, `no reorganisation is deeper than max-rollback: ${deepest}`);
});
