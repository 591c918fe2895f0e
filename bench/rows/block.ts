/**
 * block: how soon three peers that have the transactions of full blocks have these blocks complete,
 * and how soon the blocks are part of their chains. The times come from the nodes' own logs.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import { type Spread, spread } from '../measure/rounds.ts';
import { drained, makeFunded, poolSize, until } from '../node/funded.ts';
import { connected, type Member, makeMembers } from '../node/members.ts';
import type { NodeProcess } from '../node/node-process.ts';
import { atMost, type RowResult, withUnit } from '../report/result.ts';
import { createPosting } from '../transfers/posting.ts';

const NODES = 4;
const BLOCKS = { full: 10, quick: 3 };
/** More than a block of 1 MiB holds, and less than two. */
const TRANSFERS_A_BLOCK = 7_000;
const FULL_BYTES_MIN = 1_000_000;
/** Long enough for a block to be everywhere and the machine at rest before the next one. */
const ROUND_MS = 2_500;
const FILL_MS_MAX = 600_000;
const PING_EVERY_MS = 100;
const LOGGED = ['logging-level=DEBUG'];

export async function block(bench: Bench): Promise<RowResult> {
  const count = BLOCKS[bench.quick ? 'quick' : 'full'] * TRANSFERS_A_BLOCK;
  const { folder, senders } = await makeFunded(bench, 'block', { roundMs: ROUND_MS });
  const members = await makeMembers(folder, NODES);
  const options = { execArgv: bench.nodeFlags, set: ['miner.enable=no', ...LOGGED] };
  const started = await Promise.all(members.map((member) => member.start(options)));
  await connected(started);
  bench.say(`  ${count} transfers into the pools`);
  const posting = createPosting(bench.load, senders, folder.scheme);
  const ports = started.map(({ port }) => port);
  await posting.post(ports, FILL_MS_MAX, posting.prepared(count));
  await until('full pools', async () => {
    const sizes = await Promise.all(started.map(poolSize));
    return sizes.every((size) => size === count);
  });

  // The one that makes the blocks gets its pool back from its journal.
  await started[0]!.stop();
  const miner = await members[0]!.start({ execArgv: bench.nodeFlags, set: LOGGED });
  const peers = started.slice(1);
  const ping = pinging(peers);
  await drained(miner);
  await until('empty pools', async () => {
    const sizes = await Promise.all(peers.map(poolSize));
    return sizes.every((size) => size === 0);
  });
  const pings = await ping.stop();
  await Promise.all([miner, ...peers].map((node) => node.stop()));

  const [minerLog, ...peerLogs] = members.map(eventsOf);
  const full = minerLog!.filter(
    ({ event, bytes }) => event === 'block.forged' && bytes >= FULL_BYTES_MIN,
  );
  const times = full.map((forged) => timesOf(forged, peerLogs));
  const known = times.filter((one) => one !== undefined);
  const whole = spread(known.map(({ rebuiltMs }) => rebuiltMs));
  const appended = spread(known.map(({ appendedMs }) => appendedMs));
  const notes = [
    'times by the clock of the machine, in whole milliseconds, from the commit of the miner',
  ];
  if (known.length < full.length) {
    notes.push(
      `${full.length - known.length} blocks were not counted: made before all peers were there, or of transactions that one lacked`,
    );
  }
  return {
    row: 'block',
    title: 'propagation of a block of 1 MiB',
    figures: [
      {
        what: `whole on ${NODES - 1} peers, signature checked, ${known.length} blocks`,
        value: withUnit(whole, ' ms'),
        against: `ping ${withUnit(pings, ' ms')}`,
      },
      { what: 'part of the chain on all of them', value: withUnit(appended, ' ms') },
    ],
    goals: [{ level: 'Good', conditions: [atMost(100, whole?.median, 'ms')] }],
    notes,
  };
}

interface LoggedEvent {
  readonly event: string;
  readonly time: string;
  readonly height: number;
  readonly bytes: number;
  readonly missing: number;
}

/** Lines that are no JSON, or have no such fields, are of other events. */
function eventsOf({ dir }: Member): LoggedEvent[] {
  const lines = readFileSync(join(dir, 'node.log'), 'utf8').split('\n');
  return lines
    .filter((line) => line.startsWith('{"level"'))
    .map((line) => JSON.parse(line) as LoggedEvent);
}

/** From the miner to the last of the peers; undefined where one did not have all transactions. */
function timesOf(forged: LoggedEvent, peerLogs: readonly (readonly LoggedEvent[])[]) {
  const last = (name: string): number | undefined => {
    const found = peerLogs.map((log) =>
      log.find(({ event, height }) => event === name && height === forged.height),
    );
    if (found.some((one) => one === undefined || one.missing > 0)) return undefined;
    return Math.max(...found.map((one) => Date.parse(one!.time))) - Date.parse(forged.time);
  };
  const rebuiltMs = last('block.rebuilt');
  const appendedMs = last('block.appended');
  return rebuiltMs === undefined || appendedMs === undefined
    ? undefined
    : { rebuiltMs, appendedMs };
}

/** How long the peers take to answer the simplest question, asked one after the other. */
function pinging(nodes: readonly NodeProcess[]): { stop(): Promise<Spread | undefined> } {
  const times: number[] = [];
  let stopped = false;
  async function run(): Promise<void> {
    while (!stopped) {
      for (const node of nodes) {
        const start = performance.now();
        await node.get('/blocks/height');
        times.push(performance.now() - start);
      }
      await new Promise((resolve) => setTimeout(resolve, PING_EVERY_MS));
    }
  }
  const running = run();
  return {
    async stop() {
      stopped = true;
      await running;
      return spread(times);
    },
  };
}
