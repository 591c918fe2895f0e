/** Four nodes that an earlier release founded, each run by that release or by this one. */
import { join } from 'node:path';
import { isObject, type JsonObject, parse } from '../../../src/base/json.ts';
import { freePorts } from '../../../src/cli/commands/dev/free-ports.ts';
import { type Account, temporaryFolder } from '../e2e/dev-node.ts';
import { type Command, type Exit, eventually, type Scope, startProgram } from '../e2e/process.ts';
import { type Rest, restOf } from '../e2e/rest.ts';

export const NODES = 4;

export interface UpgradedNode {
  readonly config: string;
  readonly owner: string;
  /** The same for all processes of the node. */
  readonly rest: Rest;
  readonly isRunning: () => boolean;
  /** What all its processes have logged. */
  readonly log: () => string;
  /** Resolves when it is connected to all others. */
  start(program: string): Promise<void>;
  stop(): Promise<Exit>;
  /** The exit of a start that fails. */
  refused(program: string): Promise<Exit>;
}

export interface UpgradedNetwork {
  readonly nodes: readonly UpgradedNode[];
  readonly accounts: readonly Account[];
  readonly chainId: string;
}

interface Founded {
  readonly chainId: string;
  readonly accounts: readonly Account[];
  readonly nodes: readonly { readonly apiKey: string; readonly owner: string }[];
}

/** `program` makes the folders and ends; nothing runs afterwards. */
export async function foundedBy(
  scope: Scope,
  program: string,
  roundMs: number,
): Promise<UpgradedNetwork> {
  const dir = join(temporaryFolder(scope), 'network');
  const flags = ['--no-data', '--rest-port', '0', '--round', `${roundMs}ms`, '--json'];
  const args = ['dev', '--nodes', String(NODES), '--dir', dir, '--keep', ...flags];
  const founding = startProgram(scope, program, args);
  const line = await founding.line('stdout', /"ready":true/);
  const { chainId, accounts, nodes } = parse(line) as unknown as Founded;
  founding.kill('SIGTERM');
  await founding.exit;
  const ports = await freePorts(NODES);
  return {
    chainId,
    accounts,
    nodes: nodes.map(({ apiKey, owner }, i) =>
      upgradedNode(scope, {
        config: join(dir, `node-${i + 1}`, 'node.conf'),
        owner,
        rest: restOf(`http://127.0.0.1:${ports[i]}`, apiKey),
        port: ports[i]!,
      }),
    ),
  };
}

interface Place extends Pick<UpgradedNode, 'config' | 'owner' | 'rest'> {
  readonly port: number;
}

function upgradedNode(scope: Scope, { port, ...place }: Place): UpgradedNode {
  let running: Command | undefined;
  let ended = '';
  const begin = (program: string): Command => {
    const args = ['start', place.config, '--set', `rest-api.port=${port}`];
    const env = { PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true' };
    return startProgram(scope, program, args, { env });
  };
  return {
    ...place,
    isRunning: () => running !== undefined,
    log: () => ended + (running?.stderr() ?? ''),
    async start(program) {
      running = begin(program);
      await running.line('stderr', /node\.started/);
    },
    async stop() {
      const command = running!;
      running = undefined;
      command.kill('SIGTERM');
      const exit = await command.exit;
      ended += command.stderr();
      return exit;
    },
    async refused(program) {
      const command = begin(program);
      const exit = await command.exit;
      ended += command.stderr();
      return exit;
    },
  };
}

/** Waits until the node is connected to so many others. */
export function hasPeers({ rest, owner }: UpgradedNode, count: number): Promise<true> {
  return eventually(`the peers of ${owner}`, async () => {
    const { body } = await rest.get('/peers/connected');
    return (isObject(body) && (body['peers'] as unknown[]).length >= count) || undefined;
  });
}

export interface Header {
  readonly height: number;
  readonly timestamp: number;
  readonly generator: string;
  readonly signature: string;
}

const PAGE = 100;

/** Of all blocks of these heights. */
export async function headers(rest: Rest, from: number, to: number): Promise<Header[]> {
  const all: Header[] = [];
  for (let at = from; at <= to; at += PAGE) {
    const { body } = await rest.get(`/blocks/headers/seq/${at}/${Math.min(to, at + PAGE - 1)}`);
    all.push(...(body as JsonObject[] as unknown as Header[]));
  }
  return all;
}

/**
 * Whose turn each round without a block was: the turns of miners go round in the order of `owners`,
 * and between two blocks lie the turns of those between their makers.
 */
export function missedTurns(blocks: readonly Header[], roundMs: number): Map<string, number> {
  const order: string[] = [];
  const missed = new Map<string, number>();
  for (const [i, { timestamp, generator }] of blocks.entries()) {
    const before = blocks[i - 1];
    const rounds = before === undefined ? 1 : Math.round((timestamp - before.timestamp) / roundMs);
    if (order.length < NODES) {
      // The first round of turns is complete, or the order is not known.
      if (rounds !== 1 || order.includes(generator))
        throw new Error('a turn was missed at the start');
      order.push(generator);
      continue;
    }
    for (let j = 1; j < rounds; j++) {
      const owner = order[(order.indexOf(before!.generator) + j) % NODES]!;
      missed.set(owner, (missed.get(owner) ?? 0) + 1);
    }
  }
  return missed;
}
