/** The store of a configuration, to be read while a node may go on with it. */
import { openReading, type Reading } from '../../../adapters/lmdb/reading.ts';
import { StoreCorruptError } from '../../../base/faults/store-damage.ts';
import { type KeyedView, viewOf } from '../../../ledger/committed-view.ts';
import { tables } from '../../../ledger/tables.ts';
import type { Config } from '../../../node/config/settings.ts';
import { loadConfig, type SetFlags } from '../../config-file.ts';
import { cryptographyOfConfig } from '../../cryptography.ts';
import { CliError } from '../../terminal/exit.ts';
import { onSignalEnd } from '../../terminal/signal-end.ts';
import { chainFolder } from '../chain/chain-store.ts';

export interface OpenDb {
  readonly config: Config;
  readonly folder: string;
  readonly reading: Reading;
  readonly view: KeyedView;
}

/** Throws CliError where there is no store, or a damaged one. */
export async function withDb<T>(
  path: string,
  flags: SetFlags,
  job: (db: OpenDb) => Promise<T>,
): Promise<T> {
  const { config } = await loadConfig(path, flags);
  const folder = chainFolder(config);
  try {
    const reading = await openReading({ folder, tables });
    const ending = onSignalEnd(reading.abandon);
    try {
      const view = viewOf(reading.view, cryptographyOfConfig(config).scheme);
      return await job({ config, folder, reading, view });
    } finally {
      ending.forget();
      await reading.close();
    }
  } catch (cause) {
    throw cause instanceof StoreCorruptError ? new CliError(cause.message) : cause;
  }
}
