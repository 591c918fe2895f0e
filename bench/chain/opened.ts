/** The chain of a configuration in a data directory, opened as a node opens it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openLmdbStore } from '../../src/adapters/lmdb/store.ts';
import { stderrLog } from '../../src/adapters/log.ts';
import { systemClock } from '../../src/adapters/system.ts';
import { createVerifyThreads } from '../../src/adapters/verify/signature-threads.ts';
import type { Verifier } from '../../src/base/ports/verifier.ts';
import type { Blockchain } from '../../src/chain/blockchain.ts';
import { loadConfig } from '../../src/cli/config-file.ts';
import { cryptographyOfConfig } from '../../src/cli/cryptography.ts';
import { genesisBlock } from '../../src/cli/genesis-block.ts';
import type { ChainScheme } from '../../src/codec/codec.ts';
import { tables } from '../../src/ledger/tables.ts';
import { openBlockchain } from '../../src/node/open-blockchain.ts';

export interface OpenedChain {
  readonly scheme: ChainScheme;
  readonly verifier: Verifier;
  readonly blockchain: Blockchain;
  close(): Promise<void>;
}

export async function openChain(config: string | undefined, data: string): Promise<OpenedChain> {
  const { config: settings } = await loadConfig(config);
  const { scheme, family } = cryptographyOfConfig(settings);
  const folder = join(data, 'chain');
  mkdirSync(folder, { recursive: true });
  const store = await openLmdbStore({ folder, tables });
  const log = stderrLog('warn', false);
  const verifier = createVerifyThreads(family, { log });
  const ports = { scheme, store, verifier, clock: systemClock(), log };
  const { blockchain } = await openBlockchain(settings, genesisBlock(settings), ports);
  return {
    scheme,
    verifier,
    blockchain,
    async close() {
      await verifier.close();
      await store.close();
    },
  };
}
