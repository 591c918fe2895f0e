/**
 * The first load of a long chain goes without most indexes, which are built at its end. The mark
 * `bulk` in the store says that they are missing, so a crawl that was killed goes on where it was.
 */
import type { Database } from '../../base/database.ts';
import { indexesOf, readMeta, type SchemaOptions, writeMeta } from '../schema/migrate.ts';

export const isBulk = async (db: Database): Promise<boolean> =>
  (await readMeta(db, 'bulk')) === '1';

export async function beginFirstLoad(db: Database, options: SchemaOptions): Promise<void> {
  await writeMeta(db, 'bulk', '1');
  for (const name of Object.keys(indexesOf(options))) await db.exec(`DROP INDEX IF EXISTS ${name}`);
}

/** `building` is called before each index. */
export async function endFirstLoad(
  db: Database,
  options: SchemaOptions,
  building: (name: string) => void,
): Promise<void> {
  const concurrently = db.engine === 'postgres' ? 'INDEX CONCURRENTLY' : 'INDEX';
  for (const [name, definition] of Object.entries(indexesOf(options))) {
    building(name);
    // One left invalid by an interrupted build has the same name.
    if (await isValid(db, name)) continue;
    await db.exec(`DROP INDEX IF EXISTS ${name}`);
    await db.exec(`CREATE ${definition.replace('INDEX', concurrently)}`);
  }
  await db.exec('ANALYZE');
  await db.transaction(async (queries) => {
    await queries.query(
      `INSERT INTO balance_dirty SELECT address, (SELECT max(height) FROM blocks) FROM users
       ON CONFLICT (address) DO NOTHING`,
    );
    await queries.query(`DELETE FROM meta WHERE key = 'bulk'`);
  });
}

async function isValid(db: Database, name: string): Promise<boolean> {
  const rows = await db.query<{ valid: boolean }>(
    'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
    [name],
  );
  return rows[0]?.valid === true;
}
