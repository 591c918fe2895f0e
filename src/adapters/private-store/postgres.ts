/**
 * Confidential data in PostgreSQL, in the tables that other nodes of such networks use
 * (privacy.md#storage): `policy_meta_data` and `policy_data`, with ids in Base58 and one row in
 * each table for an item.
 *
 * Invariants: both rows change in one transaction, which is on the server's disk when it ends; data
 * travel in pieces in both directions, so this process never holds a whole item.
 */
import pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { base58 } from '../../base/base58.ts';
import type { PrivateItem } from '../../base/ports/private-store.ts';
import { policyIdOf, type Shelf } from './shelf.ts';
import { Uploads } from './uploads.ts';

export interface PostgresOptions {
  /** postgres://host:port/database, also with the prefix jdbc: and with postgresql:. */
  readonly url: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
}

/**
 * An upload holds a connection while it waits for its sender, so uploads may not use all
 * connections.
 */
const CONNECTIONS = 12;
const UPLOADS_MAX = { client: 2, peer: 8 };
const CONNECT_MS = 10_000;
const QUERY_MS = 60_000;
const PIECE_BYTES = 512 * 1024;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS policy_meta_data (
    policy_id text NOT NULL, hash text NOT NULL, sender text NOT NULL, type text NOT NULL,
    filename text NOT NULL, size text NOT NULL, timestamp bigint NOT NULL, author text NOT NULL,
    comment text NOT NULL, UNIQUE (policy_id, hash));
  CREATE INDEX IF NOT EXISTS policy_meta_data_hash ON policy_meta_data (hash);
  CREATE TABLE IF NOT EXISTS policy_data (
    policy_id text NOT NULL, hash text NOT NULL, data bytea NOT NULL, UNIQUE (policy_id, hash));
  ALTER TABLE policy_data ALTER COLUMN data SET STORAGE EXTERNAL;`;

const WRITE_ITEM = `
  INSERT INTO policy_meta_data
    (policy_id, hash, sender, type, filename, size, timestamp, author, comment)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  ON CONFLICT (policy_id, hash) DO UPDATE SET
    (sender, type, filename, size, timestamp, author, comment) =
    (excluded.sender, excluded.type, excluded.filename, excluded.size, excluded.timestamp,
     excluded.author, excluded.comment)`;

const WRITE_DATA = `
  INSERT INTO policy_data (policy_id, hash, data)
  SELECT $1, $2, coalesce(string_agg(piece, ''::bytea ORDER BY number), ''::bytea) FROM uploaded
  ON CONFLICT (policy_id, hash) DO UPDATE SET data = excluded.data`;

const OF_ITEM = 'WHERE policy_id = $1 AND hash = $2';

/** A table may be lost, or come back from an older backup than the other: such an item is missing. */
const ITEMS = `(SELECT m.* FROM policy_meta_data m WHERE EXISTS (
  SELECT FROM policy_data d WHERE d.policy_id = m.policy_id AND d.hash = m.hash)) items`;

/** Rejects where the database cannot be used; creates missing tables. */
export async function postgresShelf({ url, user, password }: PostgresOptions): Promise<Shelf> {
  const pool = new pg.Pool({
    ...parseIntoClientConfig(url.replace(/^jdbc:/, '')),
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    application_name: 'platform-node',
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: QUERY_MS,
    keepAlive: true,
  });
  // The pool replaces an idle connection that breaks. If the server is unreachable, the next query
  // reports it.
  pool.on('error', () => {});
  // A connection may also break while an upload waits for its next piece. The next statement fails.
  pool.on('connect', (client) => void client.on('error', () => {}));
  const uploads = new Uploads(UPLOADS_MAX);
  await makeTables(pool).catch(async (cause: unknown) => {
    await pool.end();
    throw cause;
  });

  return {
    async info(policyId, hash) {
      const ids = [base58.encode(policyId), base58.encode(hash)];
      const { rows } = await pool.query<ItemRow>(`SELECT * FROM ${ITEMS} ${OF_ITEM}`, ids);
      return rows[0] && { policyId, hash, ...itemOf(rows[0]) };
    },

    async policiesOf(hash) {
      const { rows } = await pool.query<{ policy_id: string }>(
        `SELECT policy_id FROM ${ITEMS} WHERE hash = $1`,
        [base58.encode(hash)],
      );
      return rows.flatMap((row) => policyIdOf(row.policy_id) ?? []);
    },

    async open(policyId, hash) {
      const ids = [base58.encode(policyId), base58.encode(hash)];
      const { rowCount } = await pool.query(`SELECT 1 FROM policy_data ${OF_ITEM}`, ids);
      return rowCount === 0 ? undefined : () => dataOf(pool, ids);
    },

    put: (item, pieces, source) => uploads.run(() => write(pool, item, pieces), source),
    stop: () => pool.end(),
  };
}

/** A user without the right to create tables may use existing ones. */
async function makeTables(pool: pg.Pool): Promise<void> {
  const names = "to_regclass('policy_data') AS data, to_regclass('policy_meta_data') AS items";
  const { rows } = await pool.query<{ data: unknown; items: unknown }>(`SELECT ${names}`);
  if (rows[0]?.data === null || rows[0]?.items === null) await pool.query(SCHEMA);
}

interface ItemRow {
  readonly sender: string;
  readonly type: string;
  readonly filename: string;
  readonly size: string;
  readonly timestamp: string;
  readonly author: string;
  readonly comment: string;
}

const itemOf = (row: ItemRow): Omit<PrivateItem, 'policyId' | 'hash'> => ({
  sender: base58.decode(row.sender),
  type: row.type,
  filename: row.filename,
  size: String(row.size),
  timestamp: BigInt(row.timestamp),
  author: row.author,
  comment: row.comment,
});

async function* dataOf(pool: pg.Pool, ids: readonly string[]): AsyncIterable<Uint8Array> {
  // Positions of bytes count from 1.
  for (let at = 1; ; at += PIECE_BYTES) {
    const { rows } = await pool.query<{ piece: Buffer }>(
      `SELECT substring(data FROM $3 FOR $4) AS piece FROM policy_data ${OF_ITEM}`,
      [...ids, at, PIECE_BYTES],
    );
    const piece = rows[0]?.piece;
    if (piece === undefined || piece.length === 0) return;
    yield piece;
    if (piece.length < PIECE_BYTES) return;
  }
}

async function write(
  pool: pg.Pool,
  item: PrivateItem,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> {
  const ids = [base58.encode(item.policyId), base58.encode(item.hash)];
  const texts = [item.type, item.filename, item.size, item.timestamp, item.author, item.comment];
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    // Set explicitly, whatever the server's default is: an acknowledged item must be on disk.
    await client.query('SET LOCAL synchronous_commit = on');
    await client.query('CREATE TEMPORARY TABLE uploaded (number int, piece bytea) ON COMMIT DROP');
    let number = 0;
    for await (const piece of pieces) {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
      await client.query('INSERT INTO uploaded VALUES ($1, $2)', [number++, bytes]);
    }
    await client.query(WRITE_ITEM, [...ids, base58.encode(item.sender), ...texts.map(storable)]);
    await client.query(WRITE_DATA, ids);
    await client.query('COMMIT');
    client.release();
  } catch (cause) {
    // A connection in an unknown state is closed, which rolls the transaction back.
    client.release(true);
    throw cause;
  }
}

/** PostgreSQL's texts hold every character except one. */
const storable = (value: string | bigint): string => String(value).replaceAll('\0', '\u2400');
