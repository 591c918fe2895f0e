/** Four nodes that all make blocks and take transfers, as a contender. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Sender } from '../../src/cli/load/transfers.ts';
import type { Bench } from '../bench.ts';
import type { Contender } from '../measure/contender.ts';
import { withCost } from '../measure/cost.ts';
import { sumOfTimes, threadTimes, timesEach } from '../measure/thread-times.ts';
import { createPosting, type Posting } from '../transfers/posting.ts';
import type { DevFolder } from './dev-folder.ts';
import { makeFunded } from './funded.ts';
import { headersAbove, tipOf, transactionsIn } from './headers.ts';
import { connected, type Member, makeMembers, settled } from './members.ts';
import type { NodeProcess } from './node-process.ts';

export interface BenchNetwork {
  readonly folder: DevFolder;
  readonly nodes: readonly NodeProcess[];
  readonly senders: readonly Sender[];
  readonly posting: Posting;
  /** Transfers from the first POST until the last one is in a block on all nodes. */
  readonly committed: Contender;
  /** Stops the nodes; true if their states are equal at the height that all have. */
  stopAndCompare(): Promise<boolean>;
}

export const NODES = 4;
/** More than four nodes take on two cores; the rest is never sent. */
const PREPARED_PER_SECOND = 6_000;
const PROGRAM = fileURLToPath(new URL('../../bin/platform-node.ts', import.meta.url));
const FLAG = '--disable-warning=ExperimentalWarning';
const run = promisify(execFile);

export interface NetworkOptions {
  readonly roundMs: number;
  /** As in DevFolderOptions. */
  readonly finality?: boolean;
  /** Of its folder and its contender, by default 'network' and 'committed'. */
  readonly name?: string;
}

export async function startNetwork(
  bench: Bench,
  { roundMs, finality, name }: NetworkOptions,
): Promise<BenchNetwork> {
  const { folder, senders } = await makeFunded(bench, name ?? 'network', {
    ...{ roundMs, miners: NODES },
    ...(finality === undefined ? {} : { finality }),
  });
  const members = await makeMembers(folder, NODES);
  // None of them starts a chain of its own before it has found the others.
  const options = { execArgv: bench.nodeFlags, set: [`miner.quorum=${NODES - 1}`] };
  const nodes = await Promise.all(members.map((member) => member.start(options)));
  await connected(nodes);
  await settled(nodes);
  const posting = createPosting(bench.load, senders, folder.scheme);
  const ports = nodes.map(({ port }) => port);
  const cpuSeconds = (): number => nodes.reduce((sum, node) => sum + node.cpuSeconds(), 0);
  const threads = () => sumOfTimes(nodes.map(({ pid }) => threadTimes(pid)));

  return {
    folder,
    nodes,
    senders,
    posting,
    committed: {
      name: name ?? 'committed',
      async run(ms) {
        // Preparing takes so long that nodes close the connections of before.
        const first = (await tipOf(nodes[0]!)).height;
        const requests = posting.prepared(Math.ceil((PREPARED_PER_SECOND * ms) / 1000));
        const before = cpuSeconds();
        const threadsBefore = threads();
        const start = performance.now();
        const { answers, costPerOperation } = await withCost(async () => {
          const sent = await posting.post(ports, ms, requests);
          await settled(nodes);
          return sent;
        });
        const seconds = (performance.now() - start) / 1000;
        const mined = transactionsIn(await headersAbove(nodes[0]!, first));
        if (mined !== answers) throw new Error(`${answers} accepted, but ${mined} in blocks`);
        return {
          perSecond: answers / seconds,
          cpuPerOperation: (cpuSeconds() - before) / answers,
          threadsPerOperation: timesEach(threadsBefore, threads(), answers),
          costPerOperation,
        };
      },
    },
    async stopAndCompare() {
      const tips = await Promise.all(nodes.map(tipOf));
      await Promise.all(nodes.map((node) => node.stop()));
      const height = Math.min(...tips.map((tip) => tip.height));
      const hashes = await Promise.all(members.map((member) => stateHash(folder, member, height)));
      return hashes.every((hash) => hash !== null && hash === hashes[0]);
    },
  };
}

async function stateHash(
  folder: DevFolder,
  member: Member,
  height: number,
): Promise<string | null> {
  const place = ['--set', `data-directory=${member.dataDir}`];
  const args = [FLAG, PROGRAM, 'chain', 'hash', folder.config, String(height), ...place];
  const { stdout } = await run(process.execPath, args);
  return (JSON.parse(stdout) as { stateHash: string | null }).stateHash;
}
