/**
 * Row f: private data of 20 MB, from sendData at one member until they are readable at a second
 * one, with all steps; the transfer between the two nodes alone; and many small items.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { base58 } from '../../src/base/base58.ts';
import type { Bench } from '../bench.ts';
import { aesOverTcp } from '../denominators/aes-tcp.ts';
import { type Spread, spread } from '../measure/rounds.ts';
import { makeDevFolder } from '../node/dev-folder.ts';
import { until } from '../node/funded.ts';
import { connected, makeMembers } from '../node/members.ts';
import type { NodeProcess } from '../node/node-process.ts';
import {
  atLeast,
  atMost,
  number,
  type RowResult,
  ratioAtLeast,
  withUnit,
} from '../report/result.ts';

const MIB = 1024 * 1024;
const MB = 1_000_000;
const PAYLOAD_BYTES = 20 * MIB;
const ROUND_MS = 250;
const RUNS = { full: 7, quick: 4 };
const ITEMS = { full: 1000, quick: 100 };
const ITEM_BYTES = 10 * 1024;
const CONCURRENCY = 16;
const POLL_MS = 10;
const DENOMINATOR_BYTES = 10 * PAYLOAD_BYTES;

interface Item {
  readonly hash: string;
  readonly body: string;
}

export async function privateData(bench: Bench): Promise<RowResult> {
  const size = bench.quick ? ('quick' as const) : ('full' as const);
  const folder = await makeDevFolder({
    dir: bench.folder('private'),
    roundMs: ROUND_MS,
    genesisTimestamp: Date.now() - ROUND_MS,
  });
  const { apiKey, privacyApiKey } = JSON.parse(
    readFileSync(join(folder.dir, 'dev-network.json'), 'utf8'),
  ) as { apiKey: string; privacyApiKey: string };
  const members = await makeMembers(folder, 2);
  const [a, b] = (await Promise.all(members.map((one) => one.start()))) as [
    NodeProcess,
    NodeProcess,
  ];
  bench.atEnd(() => Promise.all([a.stop(), b.stop()]));
  await connected([a, b]);

  const call = async (node: NodeProcess, path: string, key: string, body?: string) => {
    const response = await fetch(`http://127.0.0.1:${node.port}${path}`, {
      headers: { 'X-API-Key': key },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
    const text = await response.text();
    return { ok: response.ok, text };
  };
  const isKnown = async (node: NodeProcess, id: string): Promise<boolean> =>
    (await call(node, `/transactions/info/${id}`, '')).ok;
  const has = async (node: NodeProcess, { hash }: Item): Promise<boolean> =>
    (await call(node, `/privacy/${policyId}/getInfo/${hash}`, privacyApiKey)).ok;

  async function send(node: NodeProcess, path: string, key: string, body: string) {
    const { ok, text } = await call(node, path, key, body);
    if (!ok) throw new Error(`${path}: ${text}`);
    return String((JSON.parse(text) as { id: unknown }).id);
  }

  const recipients = folder.members.slice(0, 2);
  const [sender] = recipients as [string];
  const policy = { policyName: 'bench', description: '', recipients, owners: [sender] };
  const policyId = await send(
    a,
    '/transactions/signAndBroadcast',
    apiKey,
    JSON.stringify({ type: 112, version: 1, sender, ...policy }),
  );
  await until('the policy', () => isKnown(b, policyId));

  function item(bytes: number): Item {
    const data = randomBytes(bytes);
    const hash = base58.encode(createHash('sha256').update(data).digest());
    const info = { filename: 'f', size: String(bytes), timestamp: 1, author: '', comment: '' };
    const fields = { sender, policyId, type: 'file', info, hash };
    return { hash, body: JSON.stringify({ ...fields, data: data.toString('base64') }) };
  }
  const sendItem = ({ body }: Item) => send(a, '/privacy/sendData', privacyApiKey, body);
  const poll = async (holds: () => Promise<boolean>): Promise<void> => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  };

  /** MB per second of the whole way, and MiB per second from the block to the second disk. */
  async function transfer(): Promise<{ whole: number; leg: number }> {
    const payload = item(PAYLOAD_BYTES);
    const begun = performance.now();
    const id = await sendItem(payload);
    await poll(() => isKnown(b, id));
    const inBlock = performance.now();
    await poll(() => has(b, payload));
    const ended = performance.now();
    return {
      whole: PAYLOAD_BYTES / MB / ((ended - begun) / 1000),
      leg: PAYLOAD_BYTES / MIB / ((ended - inBlock) / 1000),
    };
  }

  bench.say('  one of 20 MiB');
  await sendItem(item(ITEM_BYTES));
  const before = [a, b].map((node) => node.memory().rssMb);
  const runs: { whole: number; leg: number; t: number }[] = [];
  for (let i = 0; i < RUNS[size]; i++) {
    runs.push({ ...(await transfer()), t: await aesOverTcp(DENOMINATOR_BYTES) });
  }
  const rise = Math.max(...[a, b].map((node, i) => node.memory().peakMb - before[i]!));

  bench.say('  many small ones');
  const items = Array.from({ length: ITEMS[size] }, () => item(ITEM_BYTES));
  const begun = performance.now();
  const line = items[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const one of line) await sendItem(one);
    }),
  );
  for (const one of items) await poll(() => has(b, one));
  const itemsPerSecond = items.length / ((performance.now() - begun) / 1000);

  const whole = spread(runs.map((run) => run.whole));
  const leg = spread(runs.map((run) => run.leg));
  const t = spread(runs.map((run) => run.t));
  const ratio: Spread | undefined = spread(runs.map((run) => run.leg / run.t));
  const times = (rise * MIB) / PAYLOAD_BYTES;
  return {
    row: 'f',
    title: 'private data of 20 MiB between two members',
    figures: [
      { what: `sendData → readable, blocks of ${ROUND_MS} ms`, value: withUnit(whole, ' MB/s') },
      {
        what: 'from the block to the second disk',
        value: withUnit(leg, ' MiB/s'),
        against: `AES-GCM over TCP ${withUnit(t, ' MiB/s')}`,
        ratio,
      },
      { what: 'memory on top, at most', value: `${number(rise)} MB, ${number(times)} payloads` },
      { what: `${items.length} items of 10 KiB`, value: `${number(itemsPerSecond)} items/s` },
    ],
    goals: [
      { level: 'Good', conditions: [atLeast(5, whole?.median, 'MB/s')] },
      { level: 'Strong', conditions: [atLeast(20, whole?.median, 'MB/s')] },
      {
        level: 'Moonshot',
        conditions: [
          atLeast(60, whole?.median, 'MB/s'),
          ratioAtLeast(0.35, ratio, 'T'),
          atMost(4, times, 'payloads of memory'),
        ],
      },
    ],
    notes: bench.evenBusy ? ['measured on a busy machine (--even-busy)'] : [],
  };
}
