/**
 * Opens the adapters of a node: all that it reaches through ports. Each part pushes its end
 * function on the stack of the node as soon as it is open. A part that cannot be opened throws
 * StartError.
 */
import { join } from 'node:path';
import { AuditFile } from '../../adapters/audit-file.ts';
import { files } from '../../adapters/files.ts';
import { makeFolder } from '../../adapters/folders.ts';
import { httpListener } from '../../adapters/http/listener.ts';
import { SamePidError } from '../../adapters/lmdb/reader-slots.ts';
import { diskSpace, systemRandom } from '../../adapters/system.ts';
import { extension } from '../../adapters/threads/module-extension.ts';
import { PatternThread } from '../../adapters/threads/pattern-thread.ts';
import { putConnectionsFirst } from '../../adapters/threads/priorities.ts';
import { createVerifyThreads } from '../../adapters/verify/signature-threads.ts';
import { Refusal } from '../../base/errors.ts';
import { StartError } from '../../base/faults/start-error.ts';
import type { StoreCorruptError } from '../../base/faults/store-damage.ts';
import type { Http } from '../../base/ports/http.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Network } from '../../base/ports/network.ts';
import type { Store } from '../../base/ports/store.ts';
import type { Block } from '../../block/block.ts';
import type { Keystore } from '../../keystore/keystore.ts';
import type { Config } from '../../node/config/settings.ts';
import type { NodePorts } from '../../node/node.ts';
import { openChainStore } from '../commands/chain/chain-store.ts';
import { version } from '../commands/version.ts';
import { cryptographyOfConfig } from '../cryptography.ts';
import { poolJournal, usedSlotsJournal } from '../journals.ts';
import { readPages } from '../page-files.ts';
import { openTelemetry } from '../telemetry.ts';
import { CliError } from '../terminal/exit.ts';
import { type ClockOpening, openClock } from '../time-servers.ts';
import { createHttpThreads } from '../workers/http-threads.ts';
import { openAccounts } from './open-accounts.ts';
import { openContainers } from './open-containers.ts';
import { eventListener } from './open-event-listener.ts';
import { openPrivateStore } from './open-private-store.ts';

export interface OpenPorts extends Omit<NodePorts, 'requestStop' | 'audit'> {
  /** The URL of the metrics. */
  readonly metricsUrl: string | undefined;
}

export interface Opening extends ClockOpening {
  /** What is under way already. */
  readonly keystore: Promise<Keystore> | undefined;
}

export async function openPorts(
  config: Config,
  genesis: Block,
  opening: Opening,
): Promise<OpenPorts> {
  const { log, started, requestStop } = opening;
  const { family, scheme } = cryptographyOfConfig(config);
  if (hasBusyRest(config) && config.restApi.threads > 0) putConnectionsFirst();
  const clock = await openClock(config, opening);
  const store = await openStore(config, genesis, log, (damage) => {
    log.error('store.damaged', { why: damage.message });
    requestStop(new CliError(`${damage.message}; the next start rebuilds it`));
  });
  started.add('store', () => store.close());
  const telemetry = await openTelemetry(config, log);
  started.add('metrics', () => telemetry.close());
  const privateStore = await openPrivateStore(config, log);
  if (privateStore !== undefined) started.add('privacy.storage', () => privateStore.stop());
  const containers = await openContainers(config, { clock, random: systemRandom, log });
  if (containers !== undefined) started.add('containers', () => containers.close());
  const { keystore, ...keys } = await openAccounts(config, genesis, { ...opening, clock });
  const verifier = createVerifyThreads(family, { log });
  started.add('verification threads', () => verifier.close());
  const workerUrl = new URL(`../workers/pattern-worker${extension}`, import.meta.url);
  const patterns = new PatternThread(workerUrl);
  started.add('pattern thread', () => patterns.close());
  const contractPatterns = new PatternThread(workerUrl);
  started.add('pattern thread of contracts', () => contractPatterns.close());
  const auditLog = openAuditLog(config, log);
  started.add('audit log', () => auditLog?.stop());
  const journal = poolJournal(config, log);
  started.add('journal', () => journal.close());
  const turns = usedSlotsJournal(config, log);
  started.add('turns', () => turns.close());
  return {
    scheme,
    family,
    store,
    disk: diskSpace(config.dataDirectory),
    journal,
    turns,
    verifier,
    patterns,
    contractPatterns,
    clock,
    random: systemRandom,
    log,
    http: httpListener,
    restHttp: restHttp(config, requestStop),
    listenEvents: eventListener(config, clock),
    network: await networkAdapter(config),
    files,
    keystore,
    privateStore,
    containers,
    ...keys,
    version,
    pages: readPages(),
    telemetry: telemetry.ports,
    auditLog,
    metricsUrl: telemetry.url,
    started,
  };
}

/** Throws StartError where its file cannot be opened. */
function openAuditLog({ restApi }: Config, log: Log): AuditFile | undefined {
  const { path, maxSize: bytesMax, files: filesMax } = restApi.auditLog;
  if (path === undefined) return undefined;
  const auditLog = new AuditFile({ path, bytesMax, filesMax }, log);
  try {
    auditLog.start();
  } catch (cause) {
    const remedy = 'make its folder, and let the user of the node write there';
    throw new StartError('audit log', 'rest-api.audit-log.path', cause, remedy);
  }
  return auditLog;
}

/** A watcher refuses every transaction, so it has no work for threads. */
const hasBusyRest = ({ restApi, network }: Config): boolean =>
  restApi.enable && network.mode !== 'watcher';

function restHttp(config: Config, requestStop: (cause: Error) => void): Http | undefined {
  return hasBusyRest(config) ? createHttpThreads(config.restApi.threads, requestStop) : undefined;
}

async function openStore(
  config: Config,
  genesis: Block,
  log: Log,
  onDamage: (damage: StoreCorruptError) => void,
): Promise<Store> {
  const { dataDirectory } = config;
  const folder = join(dataDirectory, 'chain');
  try {
    makeFolder(folder);
  } catch (cause) {
    const remedy = 'make that folder writable for this user or choose another one';
    throw new StartError(`folder ${dataDirectory}`, 'data-directory', cause, remedy);
  }
  try {
    return await openChainStore(config, genesis, log, onDamage);
  } catch (cause) {
    // Data that fit neither genesis nor settings have their own error.
    const isOwn = [CliError, Refusal, StartError].some((kind) => cause instanceof kind);
    if (isOwn) throw cause;
    const remedy =
      cause instanceof SamePidError
        ? 'end the commands that read this store, such as a backup, and run them inside the container of the node (docker exec)'
        : 'restore a backup, or choose another folder to fetch the chain again';
    throw StartError.ofFile(`chain in ${folder}`, 'data-directory', cause, remedy);
  }
}

/** Loading it takes most of a second, and a node without peers does not need it. */
async function networkAdapter({ network, dataDirectory }: Config): Promise<Network | undefined> {
  if (!network.listen && network.knownPeers.length === 0) return undefined;
  const { libp2pNetwork } = await import('../../adapters/libp2p/transport.ts');
  const { nodeKey } = await import('../../adapters/libp2p/node-key.ts');
  const path = join(dataDirectory, 'node.key');
  try {
    return libp2pNetwork(await nodeKey(path, files));
  } catch (cause) {
    const remedy = 'move it away: the node makes a new one';
    throw StartError.ofFile(`transport key ${path}`, 'data-directory', cause, remedy);
  }
}
