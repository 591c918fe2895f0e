/** The checks of `platform-node doctor`, from cheap to slow. Each reports its findings. */
import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listenerText, nativeProblem } from '../adapters/http/listener.ts';
import { systemClock } from '../adapters/system.ts';
import type { Block } from '../block/block.ts';
import { publicKeyFrom } from '../node/config/genesis-section.ts';
import { ConfigError, problemText } from '../node/config/problems.ts';
import type { Config } from '../node/config/settings.ts';
import { listenProblem } from './commands/dev/free-ports.ts';
import { openWallet } from './commands/keystore/open-wallet.ts';
import { loadConfig } from './config-file.ts';
import { cryptographyOfConfig } from './cryptography.ts';
import { genesisBlock, genesisFindings } from './genesis-block.ts';
import { askEngine } from './opening/open-containers.ts';
import { requireOwnFileSystem } from './opening/require-own-file-system.ts';
import { openKeyHolder } from './signer/open-key-holder.ts';
import { CliError, EXIT } from './terminal/exit.ts';
import { askOnce, silent } from './time-servers.ts';
import { threadsProblem } from './workers/http-threads.ts';

export type CheckLevel = 'ok' | 'warning' | 'error';

export interface Finding {
  readonly check: string;
  readonly status: CheckLevel;
  readonly detail: string;
}

const DISK_BYTES_MIN = 2 * 2 ** 30;
const OPEN_FILES_MIN = 4096;
const CLOCK_OFFSET_MS_MAX = 100;
const ANSWER_MS = 2000;

const finding = (check: string, status: CheckLevel, detail: string): Finding => ({
  check,
  status,
  detail,
});

export async function* examine(
  file: string,
  set: readonly string[] | undefined,
): AsyncGenerator<Finding> {
  let config: Config;
  try {
    const result = await loadConfig(file, { set });
    config = result.config;
    yield finding('configuration', 'ok', file);
    for (const warning of result.warnings) yield finding('configuration', 'warning', warning);
  } catch (cause) {
    if (cause instanceof ConfigError) {
      for (const warning of cause.warnings) yield finding('configuration', 'warning', warning);
      for (const one of cause.problems) yield finding('configuration', 'error', problemText(one));
    } else if (cause instanceof CliError) yield finding('configuration', 'error', cause.message);
    else throw cause;
    return;
  }
  yield* genesis(config);
  yield* folders(config);
  yield* keys(config);
  yield* openFiles();
  yield* httpListener(config);
  yield* ports(config);
  yield* containers(config);
  yield* clock(config);
}

function* genesis(config: Config): Generator<Finding> {
  const { errors, warnings } = genesisFindings(config);
  for (const error of errors) yield finding('genesis', 'error', error);
  for (const warning of warnings) yield finding('genesis', 'warning', warning);
  if (errors.length === 0 && warnings.length === 0) {
    yield finding('genesis', 'ok', 'rules and signature');
  }

  const { transactions, networkParticipants } = config.blockchain.custom.genesis;
  const { scheme } = cryptographyOfConfig(config);
  const owner = config.ownerAddress;
  if (!transactions.some(({ recipient }) => recipient === owner)) {
    const detail = `${owner} has no balance in the genesis block; it needs one to work`;
    yield finding('owner', 'warning', detail);
  }
  // A key that does not decode has already been reported above.
  const participant = networkParticipants.find(({ publicKey }) => {
    const key = publicKeyFrom(publicKey, scheme);
    return key !== undefined && scheme.addressToText(scheme.addressOf(key)) === owner;
  });
  if (participant === undefined || participant.roles.length === 0) {
    const detail = `${owner} has no role in the genesis block; another account must register it`;
    yield finding('owner', 'warning', detail);
  }
}

function* folders(config: Config): Generator<Finding> {
  const folder = nearestFolder(config.dataDirectory);
  try {
    accessSync(folder, constants.W_OK);
    yield finding('data directory', 'ok', config.dataDirectory);
  } catch {
    yield finding('data directory', 'error', `${folder} cannot be written`);
  }
  yield* fileSystem(config);
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  yield finding(
    'disk',
    free < DISK_BYTES_MIN ? 'warning' : 'ok',
    `${(free / 2 ** 30).toFixed(1)} GiB free below ${folder}`,
  );
}

function* fileSystem(config: Config): Generator<Finding> {
  try {
    const shared = requireOwnFileSystem(config, join(config.dataDirectory, 'chain'));
    const detail = `${shared}, which other machines may have too: only one of them may run this node`;
    yield shared === undefined
      ? finding('file system', 'ok', 'of this machine')
      : finding('file system', 'warning', detail);
  } catch (cause) {
    yield finding('file system', 'error', (cause as Error).message);
  }
}

function nearestFolder(path: string): string {
  let at = path;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}

function keys(config: Config): AsyncGenerator<Finding> {
  const { socket, host } = config.signer;
  return socket === undefined && host === undefined ? keystore(config) : signer(config);
}

/** Connects as a node does, whose keystore has moved to the signer. */
async function* signer(config: Config): AsyncGenerator<Finding> {
  let genesis: Block;
  try {
    genesis = genesisBlock(config);
  } catch {
    yield finding(
      'signer',
      'warning',
      'not asked: the genesis block, which it must know, is wrong',
    );
    return;
  }
  try {
    const ports = { clock: systemClock(undefined), log: silent };
    const opened = await openKeyHolder(config, genesis, ports);
    if (opened === undefined) return;
    const { length: count } = opened.publicKeys();
    yield ownerFinding('signer', config, count, (address) => opened.publicKeyOf(address));
    opened.stop();
  } catch (cause) {
    yield finding('signer', 'error', cause instanceof Error ? cause.message : String(cause));
  }
}

function ownerFinding(
  check: string,
  config: Config,
  count: number,
  publicKeyOf: (address: Uint8Array) => Uint8Array | undefined,
): Finding {
  const { scheme } = cryptographyOfConfig(config);
  const needed = [...new Set([config.ownerAddress, config.privacy.ownerAddress])];
  const missing = needed.filter(
    (address) => publicKeyOf(scheme.addressFromText(address)) === undefined,
  );
  return missing.length > 0
    ? finding(check, 'error', `owner ${missing.join(', ')} is not among ${count} accounts`)
    : finding(check, 'ok', `${count} accounts, the owner among them`);
}

async function* keystore(config: Config): AsyncGenerator<Finding> {
  const { file: path, password } = config.wallet;
  if (!existsSync(path)) {
    yield finding('keystore', 'error', `${path} does not exist`);
    return;
  }
  if ((statSync(path).mode & 0o077) !== 0) {
    yield finding('keystore', 'warning', `${path} can be read by others: chmod go= ${path}`);
  }
  const network = cryptographyOfConfig(config);
  try {
    const opened = await openWallet({ path, password, network });
    const count = opened.accounts().length;
    yield ownerFinding('keystore', config, count, (address) => opened.publicKey(address));
    opened.close();
  } catch (cause) {
    const unasked = cause instanceof CliError && cause.code === EXIT.noConsole;
    const reason = cause instanceof Error ? cause.message : String(cause);
    yield finding('keystore', unasked ? 'warning' : 'error', reason);
  }
}

function* openFiles(): Generator<Finding> {
  if (!existsSync('/proc/self/limits')) return;
  const line = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
  const limit = line?.[1] === 'unlimited' ? Infinity : Number(line?.[1] ?? Number.NaN);
  if (Number.isNaN(limit)) return;
  const status = limit < OPEN_FILES_MIN ? 'warning' : 'ok';
  yield finding('open files', status, `limit ${limit}, at least ${OPEN_FILES_MIN} advised`);
}

function* httpListener({ restApi }: Config): Generator<Finding> {
  if (!restApi.enable) return;
  const problem = threadsProblem(restApi.threads, nativeProblem);
  if (problem !== undefined) yield finding('REST listener', 'error', problem);
  yield finding('REST listener', nativeProblem === undefined ? 'ok' : 'warning', listenerText);
}

async function* ports(config: Config): AsyncGenerator<Finding> {
  const { events } = config.api.grpc;
  const listeners: [string, boolean, string, number][] = [
    ['network.port', true, config.network.bindAddress, config.network.port],
    ['rest-api.port', config.restApi.enable, config.restApi.bindAddress, config.restApi.port],
    ['api.grpc.port', config.api.grpc.enable, config.api.grpc.bindAddress, config.api.grpc.port],
    ['api.grpc.events.port', events.enable, events.bindAddress, events.port],
    ['metrics.port', config.metrics.enable, config.metrics.bindAddress, config.metrics.port],
  ];
  for (const [name, enabled, host, port] of listeners) {
    if (!enabled) continue;
    const problem = await listenProblem(host, port);
    yield problem === undefined
      ? finding(name, 'ok', `${host}:${port} is free`)
      : finding(name, 'warning', `${host}:${port}: ${problem} (is the node running?)`);
  }
}

async function* containers(config: Config): AsyncGenerator<Finding> {
  if (!config.dockerEngine.enable) return;
  const host = config.dockerEngine.dockerHost;
  try {
    await askEngine(config, systemClock(undefined));
    yield finding('container engine', 'ok', host);
  } catch (cause) {
    yield finding('container engine', 'error', (cause as Error).message);
  }
}

async function* clock(config: Config): AsyncGenerator<Finding> {
  const { servers } = config.ntp;
  if (servers.length === 0) {
    yield finding('clock', 'warning', 'ntp.servers is empty: nothing checks the system clock');
    return;
  }
  // A step that a node would refuse is a finding, too.
  const limits = { maxStepMs: Number.POSITIVE_INFINITY, maxDeviationMs: Number.POSITIVE_INFINITY };
  const { offsetMs, trouble } = await askOnce(servers, ANSWER_MS, limits);
  if (trouble !== undefined) {
    const { fatalTimeout } = config.ntp;
    const until =
      fatalTimeout === undefined
        ? 'the clock of this machine serves'
        : `a node ends with it after ntp.fatal-timeout = ${fatalTimeout.text}`;
    const detail = `${trouble} (${servers.join(', ')}): ${until}`;
    yield finding('clock', fatalTimeout === undefined ? 'warning' : 'error', detail);
    return;
  }
  const status = Math.abs(offsetMs) > CLOCK_OFFSET_MS_MAX ? 'warning' : 'ok';
  yield finding('clock', status, `the system clock is off by ${-offsetMs} ms`);
}
