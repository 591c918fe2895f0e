/** Where the stored chain ends, and the assertion of it inside a transaction. */
import type { Queries } from '../../base/ports/database.ts';

export interface Tip {
  /** 0 for an empty store. */
  readonly height: number;
  readonly signature: string;
}

export interface StoreEnd extends Tip {
  /** Ordinal of the transaction after the last block. */
  readonly next: string;
}

/** Another process has written meanwhile, or the caller has an outdated view. */
export class NotContinuous extends Error {
  override name = 'NotContinuous';
}

const EMPTY: StoreEnd = { height: 0, signature: '', next: '1' };

export async function readEnd(db: Queries): Promise<StoreEnd> {
  const rows = await db.query<StoreEnd>(
    `SELECT height, signature, first_seq + tx_count AS next
     FROM blocks ORDER BY height DESC LIMIT 1`,
  );
  return rows[0] ?? EMPTY;
}

export async function readTip(db: Queries): Promise<Tip> {
  const { height, signature } = await readEnd(db);
  return { height, signature };
}

/** Of its last block, in milliseconds; 0 for an empty store. */
export async function timeOf(db: Queries, { height }: Tip): Promise<number> {
  const [found] = await db.query<{ ts: string }>('SELECT ts FROM blocks WHERE height = $1', [
    height,
  ]);
  return Number(found?.ts ?? 0);
}

/** No other writer changes the store between this and the end of the transaction. */
export async function lockedEnd(db: Queries): Promise<StoreEnd> {
  const [, end] = await Promise.all([
    db.query(`SELECT value FROM meta WHERE key = 'schema_version' FOR UPDATE`),
    readEnd(db),
  ]);
  return end;
}

/** Throws NotContinuous. */
export function assertEnd(end: Tip, wanted: Tip): void {
  if (end.height === wanted.height && end.signature === wanted.signature) return;
  throw new NotContinuous(`the store ends at ${end.height}, not at ${wanted.height}`);
}
