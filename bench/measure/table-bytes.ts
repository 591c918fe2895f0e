/** Bytes of whole pages that each table of a store occupies. */
import { openEnvironment } from '../../src/adapters/lmdb/environment.ts';
import { tables } from '../../src/ledger/tables.ts';

export interface TableBytes {
  readonly name: string;
  readonly bytes: number;
  readonly rows: number;
}

/** The binding's statistics of a sub-database; its types leave the fields out. */
interface Stats {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
  readonly entryCount: number;
}

/** The largest first. The store must not be open elsewhere in this process. */
export async function tableBytes(folder: string): Promise<TableBytes[]> {
  const { root, tableOf } = openEnvironment({ folder, tables });
  const found = tables.map(({ id, name }) => {
    const stats = tableOf(id).getStats() as Stats;
    const pages = stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages;
    return { name, bytes: pages * stats.pageSize, rows: stats.entryCount };
  });
  await root.close();
  return found.sort((a, b) => b.bytes - a.bytes);
}
