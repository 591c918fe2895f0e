/** Creates the schema, and brings an earlier version of it up to date. */
import { type Database, DatabaseError, type Queries } from '../../base/ports/database.ts';
import { buildIndexes } from './build-indexes.ts';
import {
  EXECUTED,
  INDEXES,
  LATER_TABLES,
  REPLACED_INDEXES,
  TABLES,
  TEXT_INDEXES,
  TIME_TOLERANCE_MS,
} from './tables.ts';
import { makeTrigrams, trigramSchema, withTrigramsOf } from './trigrams.ts';

/** The indexes of this release, where they are missing. */
const createIndexes = (options: SchemaOptions): string[] =>
  Object.values(indexesOf(options)).map(
    (definition) => `CREATE ${definition.replace('INDEX', 'INDEX IF NOT EXISTS')}`,
  );

export const SCHEMA_VERSION = 5;

export interface SchemaOptions {
  /** `index-text`: indexes for parts of texts. */
  readonly indexText: boolean;
}

/**
 * Schema 3 did not know the fee asset of what a type 105 carries, so the balances of its issuers
 * remained as they were.
 */
const SPONSORS_OF_CALLS = `
UPDATE txs SET fee_asset_id = body->'tx'->>'feeAssetId'
  WHERE type = ${EXECUTED} AND body->'tx'->>'feeAssetId' IS NOT NULL;
INSERT INTO balance_dirty
  SELECT DISTINCT a.issuer, (SELECT max(height) FROM blocks)
  FROM assets a JOIN txs t ON t.fee_asset_id = a.asset_id WHERE t.type = ${EXECUTED}
  ON CONFLICT (address) DO NOTHING`;

/** Schema 4 did not look for the name and the image of a contract in what a type 105 carries. */
const WORDS_OF_CONTRACTS = `
UPDATE txs SET message = words FROM (
  SELECT seq, left(btrim(concat_ws(' ', body->'tx'->>'contractName', body->'tx'->>'image')), 4096)
  FROM txs WHERE type = ${EXECUTED} AND body->'tx'->>'type' IN ('103', '107')) of_105(seq, words)
WHERE txs.seq = of_105.seq AND words <> ''`;

/** Schema 4 took all times of transactions for near ones. */
const SPANS_OF_BLOCKS = `
INSERT INTO block_spans SELECT b.height, least(b.ts, min(t.ts)), greatest(b.ts, max(t.ts))
  FROM txs t JOIN blocks b ON b.height = t.height
  WHERE abs(t.ts - b.ts) > ${TIME_TOLERANCE_MS} GROUP BY b.height, b.ts`;

/** What the rows of a schema lack, in the order of the schemas that have it. */
const CORRECTIONS: readonly (readonly [schema: number, statements: string])[] = [
  [4, SPONSORS_OF_CALLS],
  [5, WORDS_OF_CONTRACTS],
  [5, SPANS_OF_BLOCKS],
];

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
  if (from === SCHEMA_VERSION) {
    await assertComplete(db);
    return from;
  }
  await assertEncoding(db);
  await makeTrigrams(db);
  if (from === 0) {
    const trigrams = await trigramSchema(db);
    const indexes = createIndexes(options).map((one) => withTrigramsOf(trigrams, one));
    await atOnce(db, [TABLES, LATER_TABLES, ...indexes]);
  } else {
    await db.exec(LATER_TABLES);
    // Before those that they replace go: servers read all the while.
    await buildIndexes(db, indexesOf(options));
    await atOnce(
      db,
      // Nobody reads once an index is being dropped, so that comes last.
      [
        ...CORRECTIONS.filter(([schema]) => schema > from).map(([, statements]) => statements),
        ...REPLACED_INDEXES.map((name) => `DROP INDEX IF EXISTS ${name}`),
      ],
    );
  }
  return from;
}

const TABLE_NAMES: readonly string[] = [
  ...`${TABLES}${LATER_TABLES}`.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(\w+)/g),
].map(([, name = '']) => name);

/** Somebody has removed a table that has rows: no migration brings them back. */
export async function assertComplete(db: Queries): Promise<void> {
  const missing = await db.query<{ name: string }>(
    'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL',
    [TABLE_NAMES],
  );
  if (missing.length === 0) return;
  throw new DatabaseError(
    'other',
    `the database lacks the tables ${missing.map(({ name }) => name).join(', ')} ` +
      '(data-service.database-url); restore it, or name an empty database to crawl the chain again',
  );
}

/** In one transaction with the version, so a failure leaves the earlier one. */
const atOnce = (db: Database, statements: readonly string[]): Promise<void> =>
  db.exec(
    `BEGIN; ${statements.join(';\n')};
     INSERT INTO meta VALUES ('schema_version', '${SCHEMA_VERSION}')
     ON CONFLICT (key) DO UPDATE SET value = excluded.value; COMMIT`,
  );

/** Another encoding lacks letters that a transaction may have. */
async function assertEncoding(db: Queries): Promise<void> {
  const [found] = await db.query<{ server_encoding: string }>('SHOW server_encoding');
  if (found?.server_encoding === 'UTF8') return;
  throw new DatabaseError(
    'other',
    `the database has the encoding ${found?.server_encoding}: make one with ` +
      `CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0 (data-service.database-url)`,
  );
}

/** A later release has made this database. */
export class SchemaTooNew extends Error {
  override name = 'SchemaTooNew';

  constructor(version: number) {
    super(
      `the database has schema ${version}, and this release knows ${SCHEMA_VERSION}: update platform-node`,
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
