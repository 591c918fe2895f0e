/**
 * Runs a node in this process: opens the outside world for a configuration, in the order of
 * protocol.md §11.1, and closes it again when asked to stop (§11.2).
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { files } from '../adapters/files.ts';
import { StoreLockedError } from '../adapters/folder-lock.ts';
import { hyperExpress } from '../adapters/hyper-express.ts';
import { openJournal } from '../adapters/journal.ts';
import { openLmdbStore } from '../adapters/lmdb.ts';
import { LOG_LEVELS, type LogControl, stderrLog } from '../adapters/log.ts';
import { ntpSource, type TimeSource } from '../adapters/ntp.ts';
import { systemClock, systemRandom } from '../adapters/system.ts';
import { ApiError } from '../base/errors.ts';
import type { Network } from '../base/network.ts';
import type { LogLevel } from '../base/ports.ts';
import type { PrivateStore } from '../base/private-store.ts';
import type { Block } from '../block/block.ts';
import type { Audit } from '../chain/audit.ts';
import { UnsupportedFeatures } from '../chain/feature-watch.ts';
import { tables } from '../ledger/tables.ts';
import { InitialSyncError } from '../network/initial-sync.ts';
import type { Config } from '../node/config/settings.ts';
import { createNode, type Node } from '../node/node.ts';
import { CliError, EXIT } from './exit.ts';
import { explorerFiles } from './explorer-files.ts';
import { genesisBlock, networkOfConfig } from './network.ts';
import { openPrivateStore } from './private-store.ts';
import { type StartFacts, startFacts } from './start-screen.ts';
import { openTelemetry, type Telemetry } from './telemetry.ts';
import { createVerifyThreads } from './verify-threads.ts';
import { version } from './version.ts';
import { openNodeWallet, unlockOwner } from './wallet.ts';

export interface RunningNode extends Node {
  /** Resolves when the node has stopped, whoever asked for it. */
  readonly ended: Promise<void>;
  readonly log: LogControl;
  readonly facts: StartFacts;
}

/** A stop that takes longer ends the process anyway. */
const STOP_MS_MAX = 10_000;
const FIRST_TIME_MS_MAX = 30_000;

export interface RunOptions {
  /** What is checked after every block. */
  readonly audit?: Audit | undefined;
}

export async function runNode(config: Config, { audit }: RunOptions = {}): Promise<RunningNode> {
  const log = stderrLog(levelOf(config), process.stderr.isTTY === true);
  process.on('SIGUSR1', () => changeLevel(log));
  const { family, chain } = networkOfConfig(config);
  const genesis = genesisOf(config, log);
  const time = timeSource(config, log);
  const clock = systemClock(time);
  if (time !== undefined && !(await time.ready(FIRST_TIME_MS_MAX))) {
    log.error('ntp.silent', {
      why: 'no time server has answered: no blocks are made until one does',
    });
  }

  const folder = join(config.dataDirectory, 'chain');
  mkdirSync(folder, { recursive: true });
  const store = await openLmdbStore({ folder, tables }).catch((cause: unknown) => {
    throw cause instanceof StoreLockedError ? new CliError(cause.message, EXIT.locked) : cause;
  });
  let telemetry: Telemetry | undefined;
  let privateStore: PrivateStore | undefined;
  try {
    telemetry = await openTelemetry(config, log);
    privateStore = await openPrivateStore(config, log);
    const keystore = await openNodeWallet(config, log);
    const keys = await unlockOwner(config, keystore);
    const verifier = createVerifyThreads(family, { log });
    const journal = openJournal({ path: join(config.dataDirectory, 'pool.journal') });
    const stopping = Promise.withResolvers<Error | undefined>();
    const node = await createNode(config, genesis, {
      chain,
      family,
      store,
      journal,
      verifier,
      clock,
      random: systemRandom,
      log,
      http: hyperExpress,
      network: await networkAdapter(config),
      files,
      keystore,
      privateStore,
      ...keys,
      version,
      explorer: explorerFiles(),
      telemetry: telemetry.ports,
      audit,
      requestStop: stopping.resolve,
    });
    const { height } = node.blockchain.tip();
    const { rest } = node;
    const facts = startFacts(config, genesis, { version, height, rest, metrics: telemetry.url });
    const ended = stopOnRequest(node, stopping, log, time, telemetry);
    // Whoever waits for it later still hears of the cause.
    ended.catch(() => undefined);
    return { ...node, log, facts, ended };
  } catch (cause) {
    await store.close();
    await privateStore?.stop();
    await telemetry?.close();
    time?.stop();
    // What createNode refuses is data that do not fit the genesis block.
    throw cause instanceof ApiError ? incorrectGenesis(log, cause) : exitOf(cause);
  }
}

/** Loading it takes most of a second, which a node without peers need not spend. */
async function networkAdapter({ network, dataDirectory }: Config): Promise<Network | undefined> {
  if (!network.listen && network.knownPeers.length === 0) return undefined;
  const { libp2pNetwork } = await import('../adapters/libp2p.ts');
  const { nodeKey } = await import('../adapters/libp2p/node-key.ts');
  return libp2pNetwork(await nodeKey(join(dataDirectory, 'node.key'), files));
}

function levelOf(config: Config): LogLevel {
  const level = (process.env['LOG_LEVEL'] ?? config.loggingLevel).toLowerCase();
  return LOG_LEVELS.find((known) => known === level) ?? 'info';
}

/** To debug, and from there to info. */
function changeLevel(log: LogControl): void {
  const to = log.level() === 'debug' ? 'info' : 'debug';
  log.setLevel(to);
  log.info('log.level', { to });
}

function genesisOf(config: Config, log: LogControl): Block {
  try {
    return genesisBlock(config);
  } catch (cause) {
    throw incorrectGenesis(log, cause);
  }
}

function incorrectGenesis(log: LogControl, cause: unknown): CliError {
  log.error('genesis.incorrect');
  const why = cause instanceof Error ? cause.message : String(cause);
  return new CliError(
    `INCORRECT GENESIS BLOCK CONFIGURATION!!! NODE STOPPED BECAUSE OF THE FOLLOWING ERROR: ${why}`,
  );
}

/** Without servers the operator keeps the machine's clock right by other means. */
function timeSource(config: Config, log: LogControl): TimeSource | undefined {
  const { servers, requestTimeout, expirationTimeout, fatalTimeout } = config.ntp;
  if (servers.length === 0) return undefined;
  return ntpSource(
    {
      servers,
      requestTimeoutMs: requestTimeout.ms,
      expirationMs: expirationTimeout.ms,
      fatalMs: fatalTimeout?.ms ?? Number.POSITIVE_INFINITY,
    },
    log,
  );
}

async function stopOnRequest(
  node: Node,
  stopping: PromiseWithResolvers<Error | undefined>,
  log: LogControl,
  time: TimeSource | undefined,
  telemetry: Telemetry,
): Promise<void> {
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    log.info('node.stopping', { signal });
    // The second signal means now; the store loses nothing that was acknowledged.
    if (++signals > 1) process.exit(1);
    stopping.resolve(undefined);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('SIGHUP', () => void node.rest?.reload());
  const cause = await stopping.promise;
  const deadline = setTimeout(() => {
    log.error('node.stop-timeout');
    log.flush();
    process.exit(1);
  }, STOP_MS_MAX);
  await node.stop();
  await telemetry.close();
  time?.stop();
  clearTimeout(deadline);
  log.info('node.stopped');
  log.flush();
  if (cause !== undefined) throw exitOf(cause);
}

/** A cause that has an exit code of its own as the error that carries it. */
function exitOf(cause: unknown): unknown {
  if (cause instanceof InitialSyncError) return new CliError(cause.message);
  return cause instanceof UnsupportedFeatures
    ? new CliError(cause.message, EXIT.unsupportedFeature)
    : cause;
}
