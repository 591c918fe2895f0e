/**
 * Four real processes under 200 transactions a second, 20 in the short form. One after the other is
 * killed and started again, and the network is divided in between. They end on one state, and every
 * acknowledged transaction is in the chain or has a recorded refusal. Meanwhile an account gets a
 * script and loses it, with unsigned transactions around that; a cold validator judges the chain of
 * each. CHURN_SECONDS sets the duration.
 */
import t from 'tap';
import { createSenders } from '../../../bench/transfers/senders.ts';
import { broadcastBody, fundingTransfers } from '../../../bench/transfers/transfers.ts';
import { systemRandom } from '../../../src/adapters/system.ts';
import { base58 } from '../../../src/base/base58.ts';
import type { JsonObject } from '../../../src/base/json/json.ts';
import { parse } from '../../../src/base/json/json.ts';
import type { Sender } from '../../../src/cli/load/transfers.ts';
import { family } from '../e2e/network-folder.ts';
import { eventually } from '../e2e/process.ts';
import {
  agreed,
  type NetworkNode,
  processNetwork,
  scheme,
  stateHashes,
} from '../e2e/process-network.ts';
import { judgeChain } from './witness/cold-chain.ts';
import { startScriptLoad } from './witness/script-load.ts';
import { startSteadyLoad } from './witness/steady-load.ts';

const ASKED = process.env['CHURN_SECONDS'];
const SECONDS = Number(ASKED ?? 20);
/** Four nodes beside other tests need minutes to mine more. */
const PER_SECOND = ASKED === undefined ? 20 : 200;
const ROUND_MS = 1000;
const KILL_EVERY_MS = ASKED === undefined ? 10_000 : 20_000;
const PARTITION_MS = 3_000;
const SENDERS = 64;
/** What waits in the pools at the end has this long to be mined. */
const DRAIN_MS_MAX = 180_000;
const HEADERS_MAX = 100;

t.setTimeout(SECONDS * 1000 + 420_000);

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function poolSize({ rest }: NetworkNode): Promise<number> {
  return ((await rest.get('/transactions/unconfirmed/size')).body as { size: number }).size;
}

async function minedIds({ rest }: NetworkNode, height: number): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let from = 1; from <= height; from += HEADERS_MAX) {
    const to = Math.min(height, from + HEADERS_MAX - 1);
    const { body } = await rest.get(`/blocks/seq/${from}/${to}`);
    for (const block of body as { readonly transactions: readonly JsonObject[] }[]) {
      for (const { id } of block.transactions) ids.add(String(id));
    }
  }
  return ids;
}

/** Why transactions left the pool of a node without a block. */
function refusedIds(node: NetworkNode): Set<string> {
  const dropped = node.log().match(/^.*"event":"pool\.dropped".*$/gm) ?? [];
  return new Set(dropped.map((line) => String((parse(line) as JsonObject)['id'])));
}

/** What each node knows of a transaction. */
async function traces(nodes: readonly NetworkNode[], id: string): Promise<string> {
  const found = await Promise.all(
    nodes.map(async ({ rest, log }) => {
      const { status } = await rest.get(`/transactions/info/${id}`);
      return `${status} ${log()
        .split('\n')
        .filter((line) => line.includes(id))}`;
    }),
  );
  return `${id}: ${found.join('; ')}`;
}

t.test(`scenario 113: kills and partitions under load for ${SECONDS} s`, async (t) => {
  const network = await processNetwork(t, { nodes: 4, roundMs: ROUND_MS });
  const { nodes } = network;
  await Promise.all(nodes.map(({ start }) => start()));
  await network.connected();

  const acknowledged: string[] = [];
  const refusals: string[] = [];
  const { publicKey, privateKey } = family.keyPairFromPhrase(network.accounts[0]!.seed);
  const owner = { publicKey, sign: (m: Uint8Array) => family.sign(privateKey, m, systemRandom) };
  const senders = createSenders(SENDERS, scheme);
  const [scripted, other] = createSenders(2, scheme, 'scripted') as [Sender, Sender];
  for (const tx of fundingTransfers([...senders, scripted, other], owner, Date.now(), scheme)) {
    await nodes[0]!.rest.broadcast(parse(broadcastBody(tx, scheme)) as JsonObject);
    for (const { rest } of nodes) await rest.mined(base58.encode(tx.id));
  }

  let sent = 0;
  let asked = 0;
  const portOf = (n: number): number => {
    const running = nodes.filter(({ isRunning }) => isRunning);
    return Number(new URL(running[n % running.length]!.rest.url).port);
  };
  const scripts = startScriptLoad({
    port: () => portOf(asked++),
    accounts: [scripted, other],
    scheme,
    acknowledged: (id) => acknowledged.push(base58.encode(id)),
  });
  const load = startSteadyLoad({
    port: () => portOf(sent),
    perSecond: PER_SECOND,
    senders,
    scheme,
    next: () => sent++,
    acknowledged: (id) => acknowledged.push(base58.encode(id)),
    refused: (answer) => refusals.push(answer),
  });
  const end = Date.now() + SECONDS * 1000;
  let kills = 0;
  // On a busy machine a start may take longer than the time between two kills.
  for (let next = Date.now() + KILL_EVERY_MS / 2; Math.max(next, Date.now()) < end; ) {
    await wait(next - Date.now());
    next += KILL_EVERY_MS;
    const node = nodes[kills++ % nodes.length]!;
    await node.kill();
    await node.start();
    await network.connected();
    const one = kills % 3;
    network.split(
      [one, 3],
      [0, 1, 2].filter((index) => index !== one),
    );
    await wait(PARTITION_MS);
    network.heal();
  }
  await wait(end - Date.now());
  await load.stop();
  await scripts.stop();
  await network.connected();
  await eventually(
    'empty pools',
    async () => {
      const sizes = await Promise.all(nodes.map(poolSize));
      return sizes.every((size) => size === 0) || undefined;
    },
    DRAIN_MS_MAX,
  );
  // A block more: what the last ones have mined is in the chain of everybody then.
  const heights = await Promise.all(nodes.map(({ rest }) => rest.height()));
  const height = await agreed(nodes, Math.max(...heights) + 1);

  const mined = await minedIds(nodes[0]!, height);
  const refused = new Set(nodes.flatMap((node) => [...refusedIds(node)]));
  const lost = acknowledged.filter((id) => !mined.has(id) && !refused.has(id));
  t.comment(
    `${kills} kills, ${sent} sent, ${acknowledged.length} acknowledged, ` +
      `${acknowledged.filter((id) => mined.has(id)).length} of them in ${height} blocks`,
  );
  t.ok(acknowledged.length > (SECONDS * PER_SECOND) / 4, 'there was load');
  for (const id of lost.slice(0, 5)) t.comment(await traces(nodes, id));
  t.strictSame(lost.length, 0, 'no acknowledged transaction is lost');
  t.strictSame(refusals.slice(0, 3), [], 'no transfer was refused');

  for (const node of nodes) await node.stop();
  const hashes = await stateHashes(nodes, height);
  t.match(hashes[0], /^[0-9a-f]{64}$/);
  t.strictSame(hashes, Array(nodes.length).fill(hashes[0]), 'one state');
  for (const { config } of nodes) {
    const { stateHashes, scripts } = await judgeChain(config, scheme);
    t.strictSame(stateHashes[height], hashes[0], 'judged from bytes');
    t.ok(scripts > 1, `${scripts} scripts set or removed`);
  }
  t.ok(scripts.unsigned > 0, `${scripts.unsigned} unsigned acknowledged`);
});
