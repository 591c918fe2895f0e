/**
 * Places in the chain for readers of the stream: where the store ends, and where a reader is. The
 * text of a place is the id of an event, with which a reader goes on after an interruption.
 *
 * Every removal of blocks has a row in `reorgs`, whose times only grow. So the time of the last one
 * tells which removals a reader has not heard of, on every server of the store.
 */
import { rows } from '../api/reading.ts';
import type { DataServices } from '../api/services.ts';
import { FINAL_HEIGHT_SQL } from '../schema/tables.ts';

export interface Place {
  /** Every transaction up to this ordinal has been considered. */
  readonly seq: number;
  /** Time of the last removal of blocks that is known at this place; 0 where there was none. */
  readonly removedAt: number;
  /** The beginning of the id of that transaction; empty where it is not known. */
  readonly mark: string;
}

const MARK_CHARS = 8;

export const placeText = ({ seq, removedAt, mark }: Place): string => `${seq}-${removedAt}-${mark}`;

/** Undefined for a text that is no place. An ordinal alone is one, too. */
export function readPlace(text: string): (Pick<Place, 'seq'> & Partial<Place>) | undefined {
  const [, seq, removedAt, mark] = /^(\d{1,15})(?:-(\d{1,15})-(\w{0,8}))?$/.exec(text) ?? [];
  if (seq === undefined) return undefined;
  if (removedAt === undefined) return { seq: Number(seq) };
  return { seq: Number(seq), removedAt: Number(removedAt), mark: mark ?? '' };
}

/** None of an id that could not stand in a line of the stream. */
export function markOf(id: string | null): string {
  const mark = (id ?? '').slice(0, MARK_CHARS);
  return /^\w*$/.test(mark) ? mark : '';
}

/** A column with the removals that the rows of a statement reflect. */
export const REMOVED_AT = '(SELECT coalesce(max(at), 0) FROM reorgs)';

export interface LastPlace extends Place {
  /** The store is a replica, which may not have heard of the latest changes yet. */
  readonly isReplica: boolean;
  /** Up to it all blocks are final; 0 where nobody votes on blocks. */
  readonly finalHeight: number;
}

/** The place behind the last stored transaction. */
export async function lastPlace(services: DataServices): Promise<LastPlace> {
  const [last] = await rows<{
    seq: string | null;
    removed_at: string;
    id: string | null;
    is_replica: boolean;
    final_height: number | null;
  }>(
    services,
    `SELECT b.first_seq + b.tx_count - 1 AS seq, t.id, ${REMOVED_AT} AS removed_at,
       pg_is_in_recovery() AS is_replica, ${FINAL_HEIGHT_SQL} AS final_height
     FROM (SELECT) one
     LEFT JOIN (SELECT first_seq, tx_count FROM blocks ORDER BY height DESC LIMIT 1) b ON true
     LEFT JOIN txs t ON t.seq = b.first_seq + b.tx_count - 1`,
  );
  return {
    seq: Number(last?.seq ?? 0),
    removedAt: Number(last?.removed_at ?? 0),
    mark: markOf(last?.id ?? null),
    isReplica: last?.is_replica === true,
    finalHeight: last?.final_height ?? 0,
  };
}

/** True where the transaction at this ordinal is the one of the mark. */
export async function isMarked({ seq, mark }: Place, services: DataServices): Promise<boolean> {
  if (mark === '' || seq === 0) return true;
  const [found] = await rows<{ id: string }>(services, 'SELECT id FROM txs WHERE seq = $1', [seq]);
  return markOf(found?.id ?? null) === mark;
}

/** True where the store has had this removal. */
export async function knowsRemoval(at: number, services: DataServices): Promise<boolean> {
  if (at === 0) return true;
  const found = await rows(services, 'SELECT at FROM reorgs WHERE at = $1', [at]);
  return found.length > 0;
}

export interface Return {
  /** The last block that stayed through all removals. */
  readonly height: number;
  readonly place: Place;
}

/** Where a reader at `from` must go back to, who learns of all removals up to `removedAt`. */
export async function returnFrom(
  from: Place,
  removedAt: number,
  services: DataServices,
): Promise<Return> {
  const [found] = await rows<{ height: number; seq: string | null; id: string | null }>(
    services,
    `SELECT r.height, b.first_seq + b.tx_count - 1 AS seq, t.id
     FROM (SELECT min(to_height) AS height FROM reorgs WHERE at > $1 AND at <= $2) r
     LEFT JOIN blocks b ON b.height = r.height
     LEFT JOIN txs t ON t.seq = b.first_seq + b.tx_count - 1`,
    [from.removedAt, removedAt],
  );
  const height = found?.height ?? 0;
  // A later removal has taken that block, too; it is the next one to learn of.
  const isGone = found?.seq === null && height > 0;
  const seq = Number(found?.seq ?? 0);
  if (isGone || seq > from.seq) return { height, place: { ...from, removedAt } };
  return { height, place: { seq, removedAt, mark: markOf(found?.id ?? null) } };
}
