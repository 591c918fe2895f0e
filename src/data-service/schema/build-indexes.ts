/** Builds indexes of a store that may have rows and readers. */
import type { Database, Queries } from '../../base/ports/database.ts';
import { trigramSchema, withTrigramsOf } from './trigrams.ts';

/** Those that are missing; `building` is called before each of them. */
export async function buildIndexes(
  db: Database,
  definitions: Readonly<Record<string, string>>,
  building: (name: string) => void = () => undefined,
): Promise<void> {
  const concurrently = db.engine === 'postgres' ? 'INDEX CONCURRENTLY' : 'INDEX';
  const trigrams = await trigramSchema(db);
  for (const [name, general] of Object.entries(definitions)) {
    const definition = withTrigramsOf(trigrams, general);
    // One left invalid by an interrupted build has the same name.
    if (await isValid(db, name)) continue;
    building(name);
    await db.exec(`DROP INDEX IF EXISTS ${name}`);
    await db.exec(`CREATE ${definition.replace('INDEX', concurrently)}`);
  }
}

export async function isValid(db: Queries, name: string): Promise<boolean> {
  const rows = await db.query<{ valid: boolean }>(
    'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
    [name],
  );
  return rows[0]?.valid === true;
}
