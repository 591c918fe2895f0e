/**
 * Runs a node in this process. It opens the adapters for a configuration, in the order of
 * node.md#start. It closes them again (node.md#stop) on request, when the node fails while it runs,
 * and when a part does not start. All three cases end the same stack (base/disposal.ts).
 */

import { limitHeapGrowth } from '../adapters/heap-growth.ts';
import type { LogControl } from '../adapters/log.ts';
import { Disposal } from '../base/disposal.ts';
import { Refusal } from '../base/errors.ts';
import type { AuditLog } from '../base/ports/audit-log.ts';
import type { Block } from '../block/block.ts';
import { UnsupportedFeatures } from '../chain/features/feature-watch.ts';
import type { Audit } from '../chain/store/audit.ts';
import { InitialSyncError } from '../network/peers/initial-sync.ts';
import { effectiveSettings, givenSettings } from '../node/config/document.ts';
import type { Config } from '../node/config/settings.ts';
import type { Node } from '../node/node.ts';
import { version } from './commands/version.ts';
import { genesisBlock } from './genesis-block.ts';
import { deriveEarly } from './opening/open-accounts.ts';
import { TakenOver } from './take-over.ts';
import { CliError, EXIT } from './terminal/exit.ts';
import { changeLevelBySignal } from './terminal/log-level.ts';
import { openLog } from './terminal/open-log.ts';
import { type StartFacts, startFacts } from './terminal/start-screen.ts';
import { STOP_SIGNALS, type StopRequests, stopRequests } from './terminal/stop-requests.ts';

export interface RunningNode extends Node {
  /**
   * Resolves when the node has stopped, for whatever reason; rejects where a failure was the
   * reason.
   */
  readonly ended: Promise<void>;
  readonly log: LogControl;
  readonly facts: StartFacts;
}

export interface RunOptions {
  /** The checks after every block. */
  readonly audit?: Audit | undefined;
  /** Stands between the node and its log. */
  readonly around?: (log: LogControl) => LogControl;
  /** Keys of the settings that were given; absent: nobody wants to know. */
  readonly given?: { has(key: string): boolean };
  /** Reads the configuration again; absent: it is always the same. */
  readonly readAgain?: () => Promise<Config>;
  /** The signals that end the node; absent: those of a service. */
  readonly stopSignals?: readonly NodeJS.Signals[];
}

/** So long after its start a node has its threads: the first block and requests have come. */
const LOADED_MS = 10_000;

/** Rejects with an error whose message is the one line for the operator; no part then runs. */
export async function runNode(config: Config, options: RunOptions = {}): Promise<RunningNode> {
  const { audit, stopSignals = STOP_SIGNALS, given, around = (log) => log } = options;
  const { readAgain = async () => config } = options;
  const log = around(openLog(config));
  const stops = stopRequests(log, { stopSignals });
  // On a terminal, a screen shows them to the person.
  if (process.stderr.isTTY !== true && given !== undefined) {
    log.info('node.settings', givenSettings(config, given));
  }
  log.debug('node.settings-in-force', effectiveSettings(config));
  changeLevelBySignal(log);
  const genesis = genesisOf(config, log);
  const started = new Disposal();
  const starting = start(config, genesis, { log, started, stops, audit });
  try {
    if (!stopSignals.includes('SIGHUP')) {
      const inUse = new TakenOver(config, readAgain, log);
      // One that comes while the node starts is for the node that has started.
      process.on('SIGHUP', () => {
        log.reopen();
        const reload = (node: Started): Promise<void> => {
          node.auditLog?.reopen?.();
          return inUse.reload(node);
        };
        void starting.then(reload, () => undefined);
      });
    }
    const running = await Promise.race([starting, stoppedEarly(stops)]);
    started.add('growth of the heap', limitHeapGrowth(LOADED_MS));
    const ended = stops.requested.then((cause) => end(cause, { log, started, stops }));
    // A caller that waits for it later still gets the cause.
    ended.catch(() => undefined);
    return { ...running, log, ended };
  } catch (cause) {
    stops.expectEnd(EXIT.failure);
    await started.dispose().catch(() => undefined);
    // An interrupted start ends at the next part that it opens, and closes that part too.
    await starting.catch(() => undefined);
    await started.dispose().catch(() => undefined);
    stops.release();
    await log.close();
    // A refusal by createNode means that the data do not fit the genesis block.
    throw cause instanceof Refusal ? incorrectGenesis(log, cause) : exitOf(cause);
  }
}

interface Run {
  readonly log: LogControl;
  readonly started: Disposal;
  readonly stops: StopRequests;
}

interface Started extends Node {
  readonly facts: StartFacts;
  readonly auditLog: AuditLog | undefined;
}

async function start(
  config: Config,
  genesis: Block,
  { log, started, stops, audit }: Run & RunOptions,
): Promise<Started> {
  const keystore = deriveEarly(config, log);
  // The rest of the program loads meanwhile.
  const [{ openPorts }, { createNode }] = await Promise.all([
    import('./opening/open-node-ports.ts'),
    import('../node/node.ts'),
  ]);
  const opening = { log, started, requestStop: stops.request, keystore };
  const ports = await openPorts(config, genesis, opening);
  const node = await createNode(config, genesis, { ...ports, audit, requestStop: stops.request });
  const { height } = node.blockchain.tip();
  const { rest } = node;
  const { metricsUrl: metrics, auditLog } = ports;
  const executes = ports.containers !== undefined;
  const running = { version, height, rest, metrics, executes };
  return { ...node, auditLog, facts: startFacts(config, genesis, running) };
}

async function stoppedEarly({ requested }: StopRequests): Promise<never> {
  // Without a cause the stop was requested, which is no failure.
  throw (await requested) ?? new CliError('', EXIT.ok);
}

async function end(cause: Error | undefined, { log, started, stops }: Run): Promise<void> {
  stops.expectEnd(cause instanceof CliError ? cause.code : EXIT.failure);
  const failure = await started.dispose().then(
    () => undefined,
    (failed: Error) => failed,
  );
  stops.release();
  if (failure === undefined) log.info('node.stopped');
  else log.error('node.stop-failed', { why: failure.message });
  await log.close();
  if (cause !== undefined) throw exitOf(cause);
  if (failure !== undefined)
    throw new CliError(`not all parts have stopped properly: ${failure.message}`);
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

/** The error with the exit code that belongs to a cause. */
function exitOf(cause: unknown): unknown {
  if (cause instanceof InitialSyncError) {
    return new CliError(cause.message, cause.isUnregistered ? EXIT.notRegistered : EXIT.failure);
  }
  return cause instanceof UnsupportedFeatures
    ? new CliError(cause.message, EXIT.unsupportedFeature)
    : cause;
}
