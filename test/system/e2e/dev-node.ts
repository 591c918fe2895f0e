/**
 * A real node for the end-to-end tests: `platform-node dev` or `platform-node start` in a separate
 * process, with its own folder and port.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JsonObject, parse } from '../../../src/base/json/json.ts';
import type { DevContracts } from '../../../src/cli/commands/dev/dev-contracts.ts';
import { family } from '../../family.ts';
import { type Command, type Exit, type Scope, startCommand } from './process.ts';
import { type Rest, restOf } from './rest.ts';

export interface Account {
  readonly address: string;
  readonly publicKey: string;
  readonly seed: string;
  readonly roles: readonly string[];
  readonly balance: number | bigint;
}

export interface DevNode {
  readonly dir: string;
  readonly rest: Rest;
  readonly apiKey: string;
  readonly privacyApiKey: string;
  readonly chainId: string;
  readonly owner: string;
  readonly accounts: readonly Account[];
  readonly contracts: DevContracts;
  /** Address of the data service, where it was asked for. */
  readonly data: string | undefined;
  readonly log: () => string;
  stop(): Promise<Exit>;
  kill9(): Promise<void>;
  /** Starts again on the same folder, after `stop` or `kill9`. */
  restart(): Promise<DevNode>;
}

/** A network of the family of this run. */
export interface DevOptions {
  /** Folder of the network; kept by the node and removed with the test. */
  readonly dir?: string;
  readonly round?: string;
  readonly consensus?: 'poa' | 'pos';
  /** False: the network is founded without. */
  readonly finality?: false;
  readonly env?: Readonly<Record<string, string>>;
  /** With a data service beside it. */
  readonly data?: boolean;
}

export function temporaryFolder(scope: Scope): string {
  const dir = mkdtempSync(join(tmpdir(), 'e2e-'));
  scope.teardown(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export async function startDevNode(scope: Scope, options: DevOptions = {}): Promise<DevNode> {
  const { dir = temporaryFolder(scope), round = '1s', consensus, finality, env } = options;
  const args = ['--dir', dir, '--keep', '--round', round, '--crypto', family.title];
  if (consensus !== undefined) args.push('--consensus', consensus);
  if (finality === false) args.push('--no-finality');
  if (options.data === true) args.push('--data-port', '0');
  const { command, ready } = await startDev(scope, args, env);
  const node = ready.nodes[0]!;
  return {
    dir,
    rest: restOf(node.rest, node.apiKey),
    apiKey: node.apiKey,
    privacyApiKey: node.privacyApiKey,
    chainId: ready.chainId,
    owner: node.owner,
    accounts: ready.accounts,
    contracts: ready.contracts,
    data: ready.data,
    log: command.stderr,
    stop: () => end(command, 'SIGTERM'),
    async kill9() {
      await end(command, 'SIGKILL');
    },
    restart: () => startDevNode(scope, { ...options, dir }),
  };
}

export interface DevNetworkRun {
  readonly rests: readonly Rest[];
  readonly owners: readonly string[];
  readonly accounts: readonly Account[];
  readonly command: Command;
  stop(): Promise<Exit>;
}

/** `platform-node dev` with these options, on any free REST ports. */
export async function startDevNetwork(
  scope: Scope,
  args: readonly string[],
  env?: DevOptions['env'],
): Promise<DevNetworkRun> {
  const { command, ready } = await startDev(scope, args, env);
  return {
    rests: ready.nodes.map(({ rest, apiKey }) => restOf(rest, apiKey)),
    owners: ready.nodes.map(({ owner }) => owner),
    accounts: ready.accounts,
    command,
    stop: () => end(command, 'SIGTERM'),
  };
}

async function startDev(
  scope: Scope,
  args: readonly string[],
  env: DevOptions['env'],
): Promise<{ command: Command; ready: Ready }> {
  const words = [
    'dev',
    ...args,
    ...(args.includes('--data-port') ? [] : ['--no-data']),
    '--rest-port',
    '0',
    '--json',
  ];
  const command = startCommand(scope, words, env === undefined ? {} : { env });
  const ready = parse(await command.line('stdout', /"ready":true/)) as unknown as Ready;
  return { command, ready };
}

interface Ready {
  readonly chainId: string;
  readonly nodes: readonly {
    readonly rest: string;
    readonly apiKey: string;
    readonly privacyApiKey: string;
    readonly owner: string;
  }[];
  readonly accounts: readonly Account[];
  readonly contracts: DevContracts;
  readonly data?: string;
}

export interface StartedNode {
  readonly pid: number;
  readonly rest: Rest;
  readonly log: () => string;
  stop(): Promise<Exit>;
  /** SIGKILL */
  kill(): Promise<Exit>;
}

/** `platform-node start`; the port of the configuration should be 0. */
export async function startNode(
  scope: Scope,
  config: string,
  options: { apiKey?: string; env?: Record<string, string>; set?: readonly string[] } = {},
): Promise<StartedNode> {
  const set = (options.set ?? []).flatMap((one) => ['--set', one]);
  const command = startCommand(scope, ['start', config, ...set], {
    env: { PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true', ...options.env },
  });
  const started = parse(await command.line('stderr', /node\.started/)) as JsonObject;
  const rest = restOf(`http://${String(started['rest'])}`, options.apiKey);
  return {
    pid: command.pid,
    rest,
    log: command.stderr,
    stop: () => end(command, 'SIGTERM'),
    kill: () => end(command, 'SIGKILL'),
  };
}

function end(command: Command, signal: NodeJS.Signals): Promise<Exit> {
  command.kill(signal);
  return command.exit;
}
