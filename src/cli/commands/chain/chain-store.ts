/**
 * Opens the store of a configuration. A damaged store, or one of a release without checksums, is
 * replaced by a new one with all blocks that are still readable; peers supply the rest.
 */
import { dirname, join } from 'node:path';
import { StoreLockedError } from '../../../adapters/folder-lock.ts';
import { copyStore } from '../../../adapters/lmdb/copy.ts';
import { hasStore } from '../../../adapters/lmdb/remains.ts';
import { type LmdbStore, openLmdbStore } from '../../../adapters/lmdb/store.ts';
import { systemClock } from '../../../adapters/system.ts';
import { createVerifyThreads } from '../../../adapters/verify/signature-threads.ts';
import type { StoreCorruptError } from '../../../base/faults/store-damage.ts';
import type { Log } from '../../../base/ports/log.ts';
import type { Block } from '../../../block/block.ts';
import { rebuild } from '../../../chain/store/rebuild.ts';
import { tables } from '../../../ledger/tables.ts';
import type { Config } from '../../../node/config/settings.ts';
import { openBlockchain } from '../../../node/open-blockchain.ts';
import { cryptographyOfConfig } from '../../cryptography.ts';
import { requireOwnFileSystem } from '../../opening/require-own-file-system.ts';
import { CliError, lockedBy } from '../../terminal/exit.ts';
import { temporaryFolder } from '../../terminal/temporary-folder.ts';
import { requireSpace } from '../db/require-space.ts';

export const chainFolder = ({ dataDirectory }: Pick<Config, 'dataDirectory'>): string =>
  join(dataDirectory, 'chain');

/** Throws CliError where opening the store would make a new one, as for a mistyped data-directory. */
export function requireStore(config: Config): void {
  const folder = chainFolder(config);
  if (hasStore(folder)) return;
  throw new CliError(
    `there is no store in ${folder} (data-directory): name the folder of a node, or start the node first`,
  );
}

export interface ChainCopy {
  readonly store: LmdbStore;
  close(): Promise<void>;
}

/**
 * A copy of the store, while a node may go on writing. `to`: the folder in which it stays; absent: it
 * is deleted at the end. Rejects with StoreCorruptError where it is damaged.
 */
export async function copyOfChainStore(config: Config, to?: string): Promise<ChainCopy> {
  const made = to === undefined ? temporaryFolder(join(config.dataDirectory, 'copy-')) : undefined;
  const folder = to ?? made!.path;
  try {
    const source = { folder: chainFolder(config), tables };
    await copyStore(source, folder, (bytes) => requireSpace(config, dirname(folder), bytes));
    const store = await openCopy(folder);
    return { store, close: () => store.close().finally(made?.remove) };
  } catch (cause) {
    made?.remove();
    throw cause;
  }
}

/** A damaged one is refused. */
export const openCopy = (folder: string): Promise<LmdbStore> => openLmdbStore({ folder, tables });

/** The start of a node takes less. */
const SCRUB_AFTER_MS = 10_000;

export async function openChainStore(
  config: Config,
  genesis: Block,
  log: Log,
  onDamage?: (damage: StoreCorruptError) => void,
): Promise<LmdbStore> {
  const folder = chainFolder(config);
  const shared = requireOwnFileSystem(config, folder);
  if (shared !== undefined) log.warn('store.network-file-system', { folder, type: shared });
  const store = await openLmdbStore({
    folder,
    tables,
    replaceDamaged: true,
    // The tools end before a check in the background would.
    ...(onDamage === undefined ? {} : { onDamage, scrubAfterMs: SCRUB_AFTER_MS }),
  }).catch((cause: unknown) => {
    throw cause instanceof StoreLockedError ? lockedBy(cause) : cause;
  });
  if (store.damaged === undefined) return store;
  try {
    await refill(store, config, genesis, log);
  } catch (cause) {
    await store.close();
    throw cause;
  }
  return store;
}

async function refill(store: LmdbStore, config: Config, genesis: Block, log: Log): Promise<void> {
  const { damaged } = store;
  if (damaged === undefined) return;
  const { family, scheme } = cryptographyOfConfig(config);
  log.warn('store.damaged', { why: damaged.why });
  const verifier = createVerifyThreads(family, { log });
  try {
    const ports = { scheme, store, verifier, clock: systemClock(), log };
    const { blockchain, rules } = await openBlockchain(config, genesis, ports);
    const { rows } = damaged;
    const { height, of } = await rebuild(blockchain, verifier, rows, log, rules.voterOverrides);
    const kept = damaged.done(height >= of && of > 0);
    log.warn('store.rebuilt', { height, of, ...(kept === undefined ? {} : { kept }) });
  } finally {
    await verifier.close();
  }
}
