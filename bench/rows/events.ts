/**
 * Row events: what clients of GET /events cost the load of row a. A thousand listen each to blocks and
 * to the transactions of an account of their own; a hundred want everything and never read.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Bench } from '../bench.ts';
import type { EventClients, EventsTaken } from '../load/event-process.ts';
import type { Contender } from '../measure/contender.ts';
import { costRatioOf, figureOf, ratioOf } from '../measure/rounds.ts';
import { fundedForLoad, startAccepting } from '../node/accepting.ts';
import { tipOf } from '../node/headers.ts';
import { perSecond, type RowResult, ratioAtLeast } from '../report/result.ts';

const READERS = 1000;
const NEVER_READ = 100;
/**
 * Every run comes after so long a load: by then those that do not read have been ended, and a node is
 * slower under a load that lasts.
 */
const BEFORE_MS = { full: 10_000, quick: 6000 };
/** The cost is as small as what this machine's speed changes by from one run to the next. */
const SIZE = {
  full: { ms: 3000, rounds: 9, warmUp: false },
  quick: { ms: 3000, rounds: 2, warmUp: false },
} as const;
const SETTINGS = ['rest-api.max-event-streams=2000', 'rest-api.max-event-streams-per-client=2000'];
const PROGRAM = fileURLToPath(new URL('../load/event-process.ts', import.meta.url));

export async function events(bench: Bench): Promise<RowResult> {
  const notes: string[] = [];
  const funded = await fundedForLoad(bench);
  const node = await startAccepting(bench, { execArgv: bench.nodeFlags, funded, set: SETTINGS });
  const { port } = node.node;
  const own = Array.from({ length: READERS }, (_, i) => {
    const { address } = funded.senders[i % funded.senders.length]!;
    const text = funded.folder.scheme.addressToText(address);
    return `/events?kinds=transaction,block&address=${text}`;
  });
  const all = Array.from({ length: NEVER_READ }, () => '/events');
  const costs: Cost[] = [];
  const size = bench.quick ? 'quick' : 'full';
  const { name } = node.accepted;
  const contender = (of: string, clients?: EventClients): Contender => ({
    name: of,
    async run(ms) {
      const end = clients && (await listening(clients));
      const first = (await tipOf(node.node)).height;
      await node.accepted.run(BEFORE_MS[size]);
      const before = { height: (await tipOf(node.node)).height, cpu: node.node.cpuSeconds() };
      const sample = await node.accepted.run(ms);
      const seconds = node.node.cpuSeconds() - before.cpu;
      const last = (await tipOf(node.node)).height;
      const said = await end?.();
      if (said !== undefined) notes.push(`${of}: ${JSON.stringify(said)}`);
      if (clients?.reads && said !== undefined) {
        const { cpuPerOperation: each = 0 } = sample;
        const blocks = last - before.height;
        const client = (said.seconds * blocks) / (last - first);
        costs.push({ seconds, each, texts: blocks * clients.paths.length, client });
      }
      return sample;
    },
  });
  const alone = contender(name);
  const reading = contender('beside readers', { port, paths: own, reads: true });
  const idle = contender('beside idle ones', { port, paths: all, reads: false });
  const rounds = await bench.measure([alone, reading, idle], notes, SIZE[size]);
  await node.stop();
  const each = figureOf(rounds, name, (sample) => sample.cpuPerOperation)?.median;
  notes.push(...costs.map((cost) => costText(cost, each ?? 0)));

  const value = (of: string) => perSecond(figureOf(rounds, of, (sample) => sample.perSecond));
  const against = (what: string, of: string) => ({
    what,
    value: value(of),
    against: 'alone',
    ratio: ratioOf(rounds, of, name),
    perCpu: costRatioOf(rounds, of, name),
  });
  return {
    row: 'events',
    title: 'clients of /events beside row a',
    figures: [
      { what: 'accepted, alone', value: value(name) },
      against(`beside ${READERS} readers, each with a filter of its own`, reading.name),
      against(`beside ${NEVER_READ} that never read, after 10 s`, idle.name),
    ],
    goals: [
      {
        level: 'Good',
        conditions: [ratioAtLeast(0.9, ratioOf(rounds, reading.name, name), 'alone')],
      },
    ],
    notes,
  };
}

/** Processor time of a run beside readers. */
interface Cost {
  /** Of the node. */
  readonly seconds: number;
  /** The same for each transfer. */
  readonly each: number;
  /** Blocks that were told of, times readers. */
  readonly texts: number;
  /** Of the process of the readers. */
  readonly client: number;
}

/** `alone`: seconds of the node for a transfer without readers. */
function costText({ seconds, each, texts, client }: Cost, alone: number): string {
  const micros = (of: number): string => ((of / texts) * 1e6).toFixed(0);
  const more = micros(seconds * (1 - alone / each));
  return `for each reader and block: ${more} µs of the node, ${micros(client)} of the readers`;
}

/** Resolves when all answers have begun, with what ends them and says how much they got. */
async function listening(clients: EventClients): Promise<() => Promise<EventsTaken>> {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(clients)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdout.setEncoding('utf8');
  await once(child.stdout, 'data');
  return async () => {
    const said = once(child.stdout, 'data');
    child.stdin.end();
    const [text] = (await said) as [string];
    return JSON.parse(text) as EventsTaken;
  };
}
