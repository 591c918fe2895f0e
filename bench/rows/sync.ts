/**
 * sync: a node without a chain fetches one from three peers; beside the import of the same chain.
 */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import { generateChain } from '../chain/generate.ts';
import { exportChain, importer } from '../chain/importer.ts';
import type { Contender } from '../measure/contender.ts';
import { figureOf, ratioOf, type Spread } from '../measure/rounds.ts';
import { until } from '../node/funded.ts';
import { tipOf } from '../node/headers.ts';
import { connected, type Member, makeMembers } from '../node/members.ts';
import type { NodeProcess } from '../node/node-process.ts';
import { perSecond, type RowResult, ratioAtLeast } from '../report/result.ts';

const TRANSFERS = { full: 1_000_000, quick: 50_000 };
const ROUNDS = { full: 2, quick: 1 };
const PEERS = 3;
const SYNC_MS_MAX = 20 * 60_000;
/** Nobody makes blocks: the end of the chain stays where it is. */
const OPTIONS = { set: ['miner.enable=no'] };

export async function sync(bench: Bench): Promise<RowResult> {
  const notes: string[] = [];
  const size = bench.quick ? 'quick' : 'full';
  bench.say(`  making a chain of ${TRANSFERS[size]} transfers`);
  const { folder, height, transfers } = await generateChain(bench.folder('sync'), TRANSFERS[size]);
  const file = await exportChain(folder);
  const members = await makeMembers(folder, PEERS + 1);
  const [holder, ...others] = members.slice(0, PEERS);
  for (const other of others) cpSync(holder!.dataDir, other.dataDir, { recursive: true });
  const peers = await Promise.all(members.slice(0, PEERS).map((member) => member.start(OPTIONS)));
  await connected(peers);

  const newcomer = syncing(bench, members[PEERS]!, peers, { height, transfers });
  const contenders = [newcomer, importer(bench, folder, file)];
  const rounds = await bench.measure(contenders, notes, { rounds: ROUNDS[size], warmUp: false });
  await Promise.all(peers.map((peer) => peer.stop()));

  const rate = (name: string) => perSecond(figureOf(rounds, name, (sample) => sample.perSecond));
  const cpu = (name: string) => micros(figureOf(rounds, name, (sample) => sample.cpuPerOperation));
  const ratio = ratioOf(rounds, 'sync', 'import');
  return {
    row: 'sync',
    title: 'sync from three peers',
    figures: [
      {
        what: `sync of ${transfers} transfers from ${PEERS} peers`,
        value: rate('sync'),
        against: `import ${rate('import')}`,
        ratio,
      },
      { what: 'processor time', value: cpu('sync'), against: `import ${cpu('import')}` },
      {
        what: 'the same with that of the peers',
        value: micros(figureOf(rounds, 'sync', (sample) => sample.costPerOperation)),
      },
    ],
    goals: [{ level: 'Good', conditions: [ratioAtLeast(0.8, ratio, 'of the import')] }],
    notes,
  };
}

const micros = (spread: Spread | undefined): string =>
  spread === undefined ? 'not measured' : `${(spread.median * 1e6).toFixed(0)} µs each`;

function syncing(
  bench: Bench,
  member: Member,
  peers: readonly NodeProcess[],
  chain: { readonly height: number; readonly transfers: number },
): Contender {
  return {
    name: 'sync',
    async run() {
      rmSync(join(member.dataDir), { recursive: true });
      const node = await member.start({ ...OPTIONS, execArgv: bench.nodeFlags });
      const all = [node, ...peers];
      // An import is timed from where everything is loaded, too.
      const start = performance.now();
      const before = all.map((one) => one.cpuSeconds());
      const { height } = await tipOf(node);
      await until(
        'the end of the chain',
        async () => (await tipOf(node)).height === chain.height,
        SYNC_MS_MAX,
      );
      const seconds = (performance.now() - start) / 1000;
      const cpu = all.map((one, i) => one.cpuSeconds() - before[i]!);
      await node.stop();
      const transfers = (chain.transfers * (chain.height - height)) / chain.height;
      return {
        perSecond: transfers / seconds,
        cpuPerOperation: cpu[0]! / transfers,
        costPerOperation: cpu.reduce((sum, one) => sum + one) / transfers,
      };
    },
  };
}
