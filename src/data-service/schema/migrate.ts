/** Creates the schema, and brings an earlier version of it up to date. */
import type { Database, Queries } from '../../base/database.ts';
import { INDEXES, LATER_TABLES, REPLACED_INDEXES, TABLES, TEXT_INDEXES } from './tables.ts';

/** The indexes of this release, where they are missing. */
const createIndexes = (options: SchemaOptions): string[] =>
  Object.values(indexesOf(options)).map(
    (definition) => `CREATE ${definition.replace('INDEX', 'INDEX IF NOT EXISTS')}`,
  );

const bringUpToDate = (options: SchemaOptions): string[] => [
  LATER_TABLES,
  ...REPLACED_INDEXES.map((name) => `DROP INDEX IF EXISTS ${name}`),
  ...createIndexes(options),
];

/** Statements that lead from each version to the next; the first creates everything. */
const MIGRATIONS: readonly ((options: SchemaOptions) => readonly string[])[] = [
  (options) => [TABLES, LATER_TABLES, ...createIndexes(options)],
  bringUpToDate,
  bringUpToDate,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

export interface SchemaOptions {
  /** `index-text`: indexes for parts of texts. */
  readonly indexText: boolean;
}

/** Every index that a first load may leave for later. */
export const indexesOf = ({ indexText }: SchemaOptions): Readonly<Record<string, string>> =>
  indexText ? { ...INDEXES, ...TEXT_INDEXES } : INDEXES;

/** 0 for an empty database. */
export async function schemaVersion(db: Queries): Promise<number> {
  const [found] = await db.query<{ name: unknown }>(`SELECT to_regclass('meta')::text AS name`);
  if (found?.name === null || found === undefined) return 0;
  return Number((await readMeta(db, 'schema_version')) ?? 0);
}

/** Returns the version from which it came. Throws SchemaTooNew. */
export async function migrate(db: Database, options: SchemaOptions): Promise<number> {
  const from = await schemaVersion(db);
  if (from > SCHEMA_VERSION) throw new SchemaTooNew(from);
  if (from === SCHEMA_VERSION) return from;
  await db.exec('CREATE EXTENSION IF NOT EXISTS pg_trgm');
  for (let version = from; version < SCHEMA_VERSION; version++) {
    const statements = MIGRATIONS[version]!(options).join(';\n');
    // One call is one transaction, so a failure leaves the earlier version.
    await db.exec(
      `BEGIN; ${statements};
       INSERT INTO meta VALUES ('schema_version', '${version + 1}')
       ON CONFLICT (key) DO UPDATE SET value = excluded.value; COMMIT`,
    );
  }
  return from;
}

/** A later release has made this database. */
export class SchemaTooNew extends Error {
  override name = 'SchemaTooNew';

  constructor(version: number) {
    super(
      `the database has schema ${version}, and this release knows ${SCHEMA_VERSION}: update it`,
    );
  }
}

export async function readMeta(db: Queries, key: string): Promise<string | undefined> {
  const rows = await db.query<{ value: string }>('SELECT value FROM meta WHERE key = $1', [key]);
  return rows[0]?.value;
}

export async function writeMeta(db: Queries, key: string, value: string): Promise<void> {
  await db.query(
    'INSERT INTO meta VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    [key, value],
  );
}
