/** Four nodes that an earlier release founded, each run by that release or by this one. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { files } from '../../../src/adapters/files.ts';
import { isObject, type JsonObject } from '../../../src/base/json/json.ts';
import { freePorts } from '../../../src/cli/commands/dev/free-ports.ts';
import { CHEAP, family, random, scheme } from '../../keystore/sample.ts';
import { type Account, temporaryFolder } from '../e2e/dev-node.ts';
import { type Command, type Exit, eventually, type Scope, startProgram } from '../e2e/process.ts';
import { type Rest, restOf } from '../e2e/rest.ts';
import type { Header } from '../missed-turns.ts';

export const NODES = 4;
const WARNINGS = 30;

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

type DevNetworkModule = typeof import('../../../src/cli/commands/dev/dev-network.ts');
type KeystoreModule = typeof import('../../../src/keystore/keystore.ts');

/** Folders, keystores and configurations as the sources of the release in `folder` make them. */
export async function foundedBy(
  scope: Scope,
  folder: string,
  roundMs: number,
): Promise<UpgradedNetwork> {
  const { createDevNetwork, configPath }: DevNetworkModule = await import(
    join(folder, 'src/cli/dev-network.ts')
  );
  const { openKeystore }: KeystoreModule = await import(join(folder, 'src/keystore/keystore.ts'));
  const dir = temporaryFolder(scope);
  const ports = await freePorts(2 * NODES);
  const [peerPorts, restPorts] = [ports.slice(NODES), ports.slice(0, NODES)];
  const { accounts, apiKey, chainId } = await createDevNetwork(
    { dir, restHost: '127.0.0.1', restPort: 0, roundMs, now: Date.now(), peerPorts },
    {
      files,
      random,
      family,
      async createKeystore(path, password, keys) {
        const keystore = await openKeystore(
          { path, layout: family.keystoreLayout, password, cost: CHEAP },
          { files, random, family, scheme },
        );
        await keystore.add(keys);
        keystore.close();
      },
    },
  );
  return {
    chainId,
    accounts,
    nodes: restPorts.map((port, i) => {
      const config = configPath(dir, NODES, i);
      makePatient(config);
      const rest = restOf(`http://127.0.0.1:${port}`, apiKey);
      return upgradedNode(scope, { config, owner: accounts[i]!.address, rest, port });
    }),
  };
}

/**
 * With rounds of a second, a start on a busy machine can take the three turns after which a miner is
 * banned.
 */
function makePatient(config: string): void {
  const text = readFileSync(config, 'utf8');
  writeFileSync(config, text.replace('type = poa', `type = poa, warnings-for-ban = ${WARNINGS}`));
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
