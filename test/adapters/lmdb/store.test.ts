import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openLmdbStore } from '../../../src/adapters/lmdb/store.ts';
import { type StoreUnderTest, storeCompliance } from '../../compliance/store.ts';
import { storeTables } from '../../compliance/store-tables.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';

storeCompliance(t, 'memory', async () => {
  const store = createMemoryStore();
  return { store, dispose: () => store.close() };
});

async function onDisk(folder: string): Promise<StoreUnderTest> {
  const store = await openLmdbStore({ folder, tables: storeTables });
  return {
    store,
    reopen: async () => {
      await store.close();
      return onDisk(folder);
    },
    dispose: async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

storeCompliance(t, 'lmdb', () => onDisk(mkdtempSync(join(tmpdir(), 'store-'))));
