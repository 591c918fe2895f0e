/** What the store of a node consists of. */

import { statSync } from 'node:fs';
import { dataFile } from '../../../adapters/lmdb/environment.ts';
import { tipHeader } from '../../../chain/store/stored-blocks.ts';
import { tables } from '../../../ledger/tables.ts';
import type { SetFlags } from '../../config-file.ts';
import { withDb } from './open-db.ts';

/** The largest tables first. */
export const storeStat = (path: string, flags: SetFlags) =>
  withDb(path, flags, async ({ folder, reading, view }) => {
    const { pages, freePages, pageBytes, tables: use } = await reading.use();
    const list = tables.map(({ id, name }) => {
      const { rows, pages: ofTable } = use.get(id) ?? { rows: 0, pages: 0 };
      return { table: name, rows, bytes: ofTable * pageBytes };
    });
    return {
      folder,
      height: tipHeader(view)?.height ?? 0,
      fileBytes: statSync(dataFile(folder)).size,
      pageBytes,
      pages,
      freePages,
      freeBytes: freePages * pageBytes,
      tables: list.sort((one, other) => other.bytes - one.bytes),
    };
  });
