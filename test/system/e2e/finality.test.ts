// Finality on four real nodes: one of them away, two of them away, and all of them killed again and again under load.
// FINALITY_KILLS sets how often all are killed; `npm run test:finality` does it 20 times.
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { eventually } from './process.ts';
import { agreed, type NetworkNode, processNetwork } from './process-network.ts';

const KILLS = Number(process.env['FINALITY_KILLS'] ?? 1);
const KILL_MS_MAX = 120_000;
const ROUND_MS = 1_000;
/** Between two transactions of a node's load; files beside this one need the processors, too. */
const LOAD_PAUSE_MS = 50;
const MAX_ROLLBACK = 6;

t.setTimeout(600_000 + KILLS * KILL_MS_MAX);

const { nodes, accounts, connected } = await processNetwork(t, {
  nodes: 4,
  roundMs: ROUND_MS,
  set: [`synchronization.max-rollback=${MAX_ROLLBACK}`],
});
const users = accounts.slice(nodes.length);

interface State {
  readonly finalHeight: number;
  readonly justifiedHeight: number;
  readonly ownVotes: string;
  readonly waits: boolean;
  readonly contradictions: readonly string[];
}

const stateOf = async ({ rest }: NetworkNode): Promise<State> =>
  (await rest.get('/finality')).body as unknown as State;

async function isInOrder(t: Test, node: NetworkNode): Promise<State> {
  const state = await stateOf(node);
  t.notOk(state.waits, 'it waits for nobody');
  // An empty list as a pattern would match every list.
  t.strictSame(state.contradictions, []);
  return state;
}

/** Final blocks that any node has shown, by height. */
const shown = new Map<number, string>();

async function finalOf({ rest }: NetworkNode): Promise<number> {
  const { body } = await rest.get('/blocks/final');
  const { height, signature } = body as { height?: number; signature: string };
  if (height === undefined) return 0;
  if ((shown.get(height) ?? signature) !== signature) throw new Error(`two final blocks ${height}`);
  shown.set(height, signature);
  return height;
}

/** Each of these nodes shows a final block above this height. */
async function finalAbove(height: number, of: readonly NetworkNode[]): Promise<void> {
  try {
    await eventually(`a final block above ${height}`, async () => {
      const heights = await Promise.all(of.map(finalOf));
      return heights.every((one) => one > height) || undefined;
    });
  } catch (cause) {
    const states = await Promise.all(of.map(stateOf));
    throw new Error(states.map((state) => JSON.stringify(state)).join('\n'), { cause });
  }
}

async function highestFinal(of: readonly NetworkNode[]): Promise<number> {
  return Math.max(...(await Promise.all(of.map(finalOf))));
}

await Promise.all(nodes.map(({ start }) => start()));
await connected();
await finalAbove(3, nodes);

t.test('one of four is away: finality goes on', async (t) => {
  const rest = nodes.slice(0, 3);
  await nodes[3]!.kill();
  const before = await highestFinal(rest);
  await finalAbove(before + 4, rest);
  await isInOrder(t, rest[0]!);
  await nodes[3]!.start();
  await finalAbove(await highestFinal(rest), nodes);
});

t.test('two of four are away: the chain waits, says so, and goes on by itself', async (t) => {
  const left = nodes.slice(0, 2);
  await Promise.all(nodes.slice(2).map(({ kill }) => kill()));
  await eventually('both wait', async () => {
    const states = await Promise.all(left.map(stateOf));
    return states.every(({ waits }) => waits) || undefined;
  });
  for (const node of left) {
    const final = await finalOf(node);
    const height = await node.rest.height();
    t.ok(height <= final + MAX_ROLLBACK, `${height} is not above ${final} + ${MAX_ROLLBACK}`);
    await eventually(
      'it says so',
      () => node.log().includes('"event":"miner.no-votes"') || undefined,
    );
  }
  const before = await highestFinal(left);
  await nodes[2]!.start();
  await finalAbove(before + MAX_ROLLBACK, nodes.slice(0, 3));
  await isInOrder(t, left[0]!);
  await nodes[3]!.start();
  await finalAbove(await highestFinal(left), nodes);
});

t.test(`all killed ${KILLS} times under load`, async (t) => {
  for (let kill = 0; kill < KILLS; kill++) {
    const isOver = { now: false };
    const load = nodes.map(async ({ rest }, i) => {
      for (let amount = 1; !isOver.now; amount++) {
        const fields = { type: 4, version: 2, fee: 1_000_000, attachment: '' };
        const [sender, recipient] = [users[i % users.length]!.address, accounts[i]!.address];
        // A node that is killed answers no more.
        const isSent = await rest
          .sign({ ...fields, sender, recipient, amount })
          .then((tx) => rest.broadcast(tx))
          .catch(() => undefined);
        await sleep(isSent === undefined ? 100 : LOAD_PAUSE_MS);
      }
    });
    try {
      await finalAbove((await highestFinal(nodes)) + 1, nodes);
      await Promise.all(nodes.map((node) => node.kill()));
    } finally {
      isOver.now = true;
      await Promise.all(load);
    }
    await Promise.all(nodes.map((node) => node.start()));
    await connected();
  }
  await finalAbove(await highestFinal(nodes), nodes);
  const height = await agreed(nodes, 1);
  t.ok(height > 0);
  for (const node of nodes) {
    t.equal((await isInOrder(t, node)).ownVotes, 'voting');
    for (const [at, signature] of shown) {
      const { body } = await node.rest.get(`/blocks/headers/at/${at}`);
      t.match(body, { signature, final: true }, `final block ${at} stays`);
    }
  }
});

t.test('they stop', async () => {
  await Promise.all(nodes.map(({ stop }) => stop()));
});
