/**
 * `platform-node dev`: a ready private network with funded accounts, in a temporary folder or in
 * one that is kept. A single node runs in this process; several nodes run in separate processes.
 */
import { mkdtempSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { ScryptCost } from '../../../crypto/keystore-cipher.ts';
import {
  consensusOption,
  cryptoOption,
  noFinalityOption,
  roundOption,
} from '../../new-network-options.ts';
import { CliError } from '../../terminal/exit.ts';
import { dockerHostOption } from '../contract/docker-host-option.ts';
import type { DevData } from './dev-data.ts';
import type { DevNetwork } from './dev-network.ts';
import type { Running } from './dev-running.ts';

interface Options {
  readonly dir?: string;
  readonly keep?: true;
  /** Absent: the number of nodes of the network in the folder; one for a new network. */
  readonly nodes?: number;
  readonly consensus?: 'poa' | 'pos';
  readonly crypto?: 'international' | 'national';
  /** False with --no-finality. */
  readonly finality: boolean;
  readonly restPort: number;
  readonly round: number;
  readonly dockerHost: string;
  /** False with --no-data. */
  readonly data: boolean;
  readonly dataPort: number;
  readonly json?: true;
  readonly checkState?: true;
}

const NODES_MAX = 16;
const PORT_MAX = 65_535;

export function register(command: Command): void {
  command
    // `dev info` has options of the same names.
    .enablePositionalOptions()
    .option('--nodes <count>', 'nodes, each a process that makes blocks (default: 1)', nodeCount)
    .addOption(consensusOption())
    .addOption(cryptoOption())
    .addOption(noFinalityOption())
    .option('--dir <folder>', 'folder of the network (default: a temporary one)')
    .option('--keep', 'keep the folder for a later run')
    .option('--rest-port <port>', 'REST port of the first node, the others follow', port, 6862)
    .addOption(roundOption().default(1000, '1s'))
    .option('--no-data', 'run no data service')
    .option('--data-port <port>', 'port of the data service; 0: any free one', port, 6866)
    .addOption(dockerHostOption())
    .option('--json', 'print one line of JSON when ready')
    .option(
      '--check-state',
      'check the sums of the whole ledger after every block (slow; one node)',
    )
    .action(run);
  command
    .command('info')
    .description(
      'Print addresses, keys and accounts of a network that runs, or of one that was kept.',
    )
    .option('--dir <folder>', 'folder of the network (default: that of the one started last)')
    .action(info);
}

async function info({ dir }: { readonly dir?: string }): Promise<void> {
  const { printInfo } = await import('./dev-info.ts');
  await printInfo(dir === undefined ? undefined : resolve(dir));
}

function nodeCount(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > NODES_MAX) {
    throw new InvalidArgumentError(`a number from 1 to ${NODES_MAX}`);
  }
  return value;
}

function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > PORT_MAX) {
    throw new InvalidArgumentError('a port number from 0 to 65535, 0 for any free one');
  }
  return value;
}

async function run(options: Options): Promise<void> {
  const dir =
    options.dir === undefined
      ? mkdtempSync(join(tmpdir(), (await import('./dev-running.ts')).FOLDER))
      : resolve(options.dir);
  const { makeFolder } = await import('../../../adapters/folders.ts');
  makeFolder(dir);
  try {
    const network = await prepare(dir, options);
    await (network.nodes === 1 ? runHere : runProcesses)(dir, network, options);
  } finally {
    (await import('./dev-running.ts')).forgetRunning(dir);
    if (options.keep !== true) rmSync(dir, { recursive: true, force: true });
  }
}

/** The network of an earlier run in this folder, or a new one. */
async function prepare(dir: string, options: Options): Promise<DevNetwork> {
  const { createDevNetwork, readDevNetwork } = await import('./dev-network.ts');
  const { files } = await import('../../../adapters/files.ts');
  const { systemRandom } = await import('../../../adapters/system.ts');
  const { configuredFamily } = await import('../../../crypto/families.ts');
  const earlier = readDevNetwork(dir, files);
  if (earlier !== undefined) {
    requireSame(dir, earlier, options);
    const { isWithoutChain, writeFirstNotes } = await import('./dev-network.ts');
    const family = configuredFamily(earlier.crypto !== 'national');
    if (isWithoutChain(dir, earlier, files)) writeFirstNotes(dir, earlier, { files, family });
    return earlier;
  }
  const { createChainScheme } = await import('../../../crypto/chain-scheme.ts');
  const { openKeystore } = await import('../../../keystore/keystore.ts');
  const { freePorts } = await import('./free-ports.ts');
  const { DEV_CHAIN_ID } = await import('./dev-network.ts');
  const { nodes = 1, consensus = 'poa', crypto, finality } = options;
  const family = configuredFamily(crypto !== 'national');
  const scheme = createChainScheme(family, DEV_CHAIN_ID.charCodeAt(0));
  return createDevNetwork(
    {
      dir,
      restHost: '127.0.0.1',
      restPort: options.restPort,
      consensus,
      finality: finality && consensus === 'poa',
      roundMs: options.round,
      now: Date.now(),
      peerPorts: nodes === 1 ? [] : await freePorts(nodes),
    },
    {
      files,
      random: systemRandom,
      family,
      async createKeystore(path, password, keys) {
        const keystore = await openKeystore(
          { path, layout: family.keystoreLayout, password, cost: DEV_COST },
          { files, random: systemRandom, family, scheme },
        );
        await keystore.add(keys);
        keystore.close();
      },
    },
  );
}

/**
 * The wallet password is random and stands in the configuration beside the file, so a dear derivation protects nothing and
 * delays the first block, by two of them. More than these 4 MiB would stay with the allocator. The keystore takes no account
 * with a password of its own before `keystore passwd` has made the file dear.
 */
const DEV_COST: ScryptCost = { N: 2 ** 12, r: 8, p: 1 };

/** Throws CliError where another network is asked for than that of the folder. */
function requireSame(dir: string, earlier: DevNetwork, options: Options): void {
  const { nodes = earlier.nodes, consensus = earlier.consensus, crypto = earlier.crypto } = options;
  const isSame =
    nodes === earlier.nodes && consensus === earlier.consensus && crypto === earlier.crypto;
  if (isSame && (options.finality || !earlier.finality)) return;
  const finality = earlier.finality ? 'finality' : 'no finality';
  throw new CliError(
    `The network in ${dir} has ${earlier.nodes} nodes, consensus ${earlier.consensus}, ${earlier.crypto} cryptography and ` +
      `${finality}, which cannot be changed`,
  );
}

async function runHere(dir: string, network: DevNetwork, options: Options): Promise<void> {
  // The owner of a development network has no password.
  process.env['PLATFORM_NODE_OWNER_PASSWORD_EMPTY'] ??= 'true';
  await checkPort(options);
  const { configPath } = await import('./dev-network.ts');
  const { loadConfig } = await import('../../config-file.ts');
  const { runNode } = await import('../../run-node.ts');
  const { withBlockLine } = await import('./block-line.ts');
  const { TERMINAL_SIGNALS } = await import('../../terminal/stop-requests.ts');
  const { contractSettings, devContracts } = await import('./dev-contracts.ts');
  const contracts = await devContracts(options.dockerHost);
  const port = `rest-api.port=${options.restPort}`;
  const { config: written } = await loadConfig(configPath(dir));
  const set = [port, ...contractSettings(contracts, written)];
  const { config } = await loadConfig(configPath(dir), { set });
  const audit = options.checkState === true ? 'state' : 'blocks';
  const terminal = process.stderr.isTTY === true ? writeToTerminal : undefined;
  const node = await runNode(config, {
    audit,
    stopSignals: TERMINAL_SIGNALS,
    around: (log) => withBlockLine(log, terminal),
  });
  // A person gets the screen below instead, which says more.
  const { sayStarted } = await import('../../terminal/start-screen.ts');
  if (process.stderr.isTTY !== true) sayStarted(node.facts, node.log, false);
  const restPorts = [node.rest?.port ?? options.restPort];
  const data = await startData(dir, restPorts, options);
  await announce(dir, network, { restPorts, contracts, data: data?.url }, options);
  await node.ended.finally(() => data?.stop());
}

/** A terminal that is gone is no failure: its end also ends the network. */
function writeToTerminal(text: string): void {
  try {
    writeSync(process.stderr.fd, text);
  } catch {
    // Nobody reads it any more.
  }
}

async function runProcesses(dir: string, network: DevNetwork, options: Options): Promise<void> {
  if (options.checkState === true) throw new CliError('--check-state works with one node only');
  const { nodes } = network;
  const { restPort: first } = options;
  if (first + nodes - 1 > PORT_MAX) throw new CliError(`There are no ${nodes} ports from ${first}`);
  await checkPort(options);
  const { configPath, nodeFolder } = await import('./dev-network.ts');
  const { freePorts } = await import('./free-ports.ts');
  const { startProcesses } = await import('./dev-processes.ts');
  const { loadConfig } = await import('../../config-file.ts');
  const { contractSettings, devContracts } = await import('./dev-contracts.ts');
  const contracts = await devContracts(options.dockerHost);
  const { config } = await loadConfig(configPath(dir, nodes));
  const indexes = Array.from({ length: nodes }, (_, index) => index);
  const restPorts = first === 0 ? await freePorts(nodes) : indexes.map((index) => first + index);
  const logs = indexes.map((index) => join(nodeFolder(dir, nodes, index), 'node.log'));
  const { connected, ended } = startProcesses(
    indexes.map((index) => ({
      config: configPath(dir, nodes, index),
      restPort: restPorts[index]!,
      settings: contractSettings(contracts, config),
      log: logs[index]!,
    })),
  );
  const isUp = await connected;
  const data = isUp ? await startData(dir, restPorts, options) : undefined;
  if (isUp) await announce(dir, network, { restPorts, contracts, logs, data: data?.url }, options);
  await ended.finally(() => data?.stop());
}

/** Before a node starts, so that nothing has to be stopped again. */
async function checkPort({ data, dataPort }: Options): Promise<void> {
  if (data) await (await import('./dev-data.ts')).checkDataPort(dataPort);
}

/** Undefined without a data service, or where it does not start: the nodes run without it. */
async function startData(
  dir: string,
  [restPort]: readonly number[],
  { data, dataPort }: Options,
): Promise<DevData | undefined> {
  if (!data || restPort === undefined) return undefined;
  const { startDevData } = await import('./dev-data.ts');
  return startDevData(dir, restPort, dataPort);
}

async function announce(
  dir: string,
  network: DevNetwork,
  parts: Omit<Running, 'pid'>,
  { json }: Options,
): Promise<void> {
  const running = { pid: process.pid, ...parts };
  (await import('./dev-running.ts')).noteRunning(dir, running);
  const { summaryText, summaryJson } = await import('./summary.ts');
  if (json !== true) console.log(`${summaryText(network, running)}\n  Ctrl-C stops it.\n`);
  else {
    const { stringify } = await import('../../../base/json/json.ts');
    console.log(stringify({ ready: true, ...summaryJson(network, running) }));
  }
}
