/**
 * The first load of a long chain goes without most indexes, which are built at its end. The mark
 * `bulk` in the store says that they are missing, so a crawl that was killed goes on where it was.
 */
import type { Database } from '../../base/ports/database.ts';
import { buildIndexes, isValid } from '../schema/build-indexes.ts';
import { indexesOf, readMeta, type SchemaOptions, writeMeta } from '../schema/migrate.ts';
import { NotContinuous } from './store-end.ts';

export const isBulk = async (db: Database): Promise<boolean> =>
  (await readMeta(db, 'bulk')) === '1';

export async function beginFirstLoad(db: Database, options: SchemaOptions): Promise<void> {
  await writeMeta(db, 'bulk', '1');
  for (const name of Object.keys(indexesOf(options))) await db.exec(`DROP INDEX IF EXISTS ${name}`);
}

/** `building` is called before each index that is missing. Throws NotContinuous where another process drops them. */
export async function endFirstLoad(
  db: Database,
  options: SchemaOptions,
  building: (name: string) => void,
  assertLocked: () => void = () => undefined,
): Promise<void> {
  const indexes = indexesOf(options);
  await buildIndexes(db, indexes, (name) => {
    assertLocked();
    building(name);
  });
  await db.exec('ANALYZE');
  assertLocked();
  await db.transaction(async (queries) => {
    for (const name of Object.keys(indexes)) {
      if (!(await isValid(queries, name))) throw new NotContinuous(`index ${name} is gone`);
    }
    await queries.query(
      `INSERT INTO balance_dirty SELECT address, (SELECT max(height) FROM blocks) FROM users
       ON CONFLICT (address) DO NOTHING`,
    );
    await queries.query(`DELETE FROM meta WHERE key = 'bulk'`);
  });
}
