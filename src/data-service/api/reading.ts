/**
 * Reads for one request: the tip of the store, rows, and the headers that tell which state an
 * answer shows. A failure of the store becomes the refusal that a client can act on.
 */

import { ApiError, apiError } from '../../base/errors.ts';
import { DatabaseError, type SqlValue } from '../../base/ports/database.ts';
import type { HttpRequest } from '../../base/ports/http.ts';
import { Answer, JSON_TYPE } from '../../rest-framework/answer.ts';
import { FINAL_HEIGHT_SQL } from '../schema/tables.ts';
import { printedRows } from './printed-rows.ts';
import type { DataServices } from './services.ts';
import { type SqlValues, sqlValues } from './sql-values.ts';

export interface StoreTip {
  readonly height: number;
  readonly signature: string;
  readonly ts: number;
  /** Number of transactions, which is the highest `seq`. */
  readonly total: number;
  /** Up to it all blocks are final; null where nobody votes on blocks. */
  readonly finalHeight: number | null;
}

/** Seconds for which a client may keep an answer that the next block may change. */
const FRESH_SECONDS = 1;
/** Blocks this deep are not expected to change. */
const SETTLED_DEPTH = 100;
const SETTLED_SECONDS = 86_400;

type Reading = Pick<DataServices, 'db' | 'meter' | 'signal'>;

export async function rows<R extends object>(
  { db, meter, signal }: Reading,
  sql: string,
  values: readonly SqlValue[] = [],
): Promise<R[]> {
  const store = db();
  if (store === undefined) throw apiError('DataUnavailable', 'The search is being prepared');
  try {
    return await store.query<R>(sql, values, signal);
  } catch (cause) {
    // Nobody gets this refusal.
    if (signal?.aborted === true) throw apiError('Overloaded');
    throw cause instanceof DatabaseError ? refusalOf(cause, meter) : cause;
  }
}

/** The same for a query that may take long. */
export async function heavyRows<R extends object>(
  services: Reading & Pick<DataServices, 'heavy' | 'client' | 'slow'>,
  sql: string,
  values: readonly SqlValue[] = [],
): Promise<R[]> {
  const { heavy, slow, client = '', signal } = services;
  slow.admit(client);
  return heavy.run(client, signal, async () => {
    // Another question of it may have ended meanwhile.
    slow.admit(client);
    try {
      return await rows<R>(services, sql, values);
    } catch (cause) {
      if (isTooSlow(cause)) costsThread(services, client);
      throw cause;
    }
  });
}

export const isTooSlow = (cause: unknown): boolean =>
  cause instanceof ApiError && cause.entry === 'QueryTooSlow';

/** A server ends a statement by itself, and goes on. */
export function costsThread({ db, slow }: Pick<DataServices, 'db' | 'slow'>, client: string): void {
  if (db()?.engine === 'pglite') slow.timedOut(client);
}

const FEW_ROWS = 5000;

interface Explained {
  readonly 'QUERY PLAN': readonly { readonly Plan: { readonly 'Plan Rows': number } }[];
}

/** Whether few rows satisfy a condition, as far as the statistics of the store tell. */
export async function areFew(
  services: Reading,
  from: string,
  where: (values: SqlValues) => string,
): Promise<boolean> {
  const values = sqlValues();
  const sql = `EXPLAIN (FORMAT JSON) SELECT 1 FROM ${from} WHERE ${where(values)}`;
  const [explained] = await rows<Explained>(services, sql, values.list);
  const expected = explained?.['QUERY PLAN'][0]?.Plan['Plan Rows'];
  return expected !== undefined && expected < FEW_ROWS;
}

function refusalOf(error: DatabaseError, meter: DataServices['meter']): unknown {
  switch (error.failure) {
    case 'away':
      return apiError('DataUnavailable', 'The database does not answer');
    case 'unmigrated':
      return apiError('DataUnavailable', 'The database has no tables yet: run data migrate');
    case 'denied':
      return apiError('DataUnavailable', 'The database does not let this server read its tables');
    case 'timeout':
      meter.timedOut();
      return apiError('QueryTooSlow');
    default:
      return error;
  }
}

interface TipRow {
  readonly height: number;
  readonly signature: string;
  readonly ts: string;
  readonly total: string;
  readonly final: number | null;
}

const placed = ({ height, signature, ts, total, final }: TipRow): StoreTip => ({
  height,
  signature,
  ts: Number(ts),
  total: Number(total),
  finalHeight: final,
});

export async function tipOf(services: DataServices): Promise<StoreTip> {
  const found = await rows<TipRow>(
    services,
    `SELECT height, signature, ts, first_seq + tx_count - 1 AS total, ${FINAL_HEIGHT_SQL} AS final
     FROM blocks ORDER BY height DESC LIMIT 1`,
  );
  const tip = found[0];
  const read =
    tip === undefined
      ? { height: 0, signature: '', ts: 0, total: 0, finalHeight: null }
      : placed(tip);
  if (services.strictLag) await refuseLag(services, read.height);
  return read;
}

async function refuseLag(services: DataServices, height: number): Promise<void> {
  const lag = ((await services.nodeHeight()) ?? height) - height;
  if (lag > services.maxLag) {
    throw apiError('DataUnavailable', `The data are ${lag} blocks behind the node`);
  }
}

/** Throws where a search would need indexes that a first load has not built yet. */
export async function requireIndexes(services: DataServices): Promise<void> {
  const found = await rows(services, `SELECT value FROM meta WHERE key = 'bulk'`);
  if (found.length > 0) {
    throw apiError('DataUnavailable', 'The first load is under way: only pages and ids are served');
  }
}

export interface Page {
  /** Ordinal of the first row. */
  readonly first?: number | undefined;
  /** Value of `index` for the next page; undefined at the end. */
  readonly next?: number | undefined;
  /** The highest ordinal of such rows. */
  readonly total?: number;
  /** The rows may change between two blocks: an answer has no tag. */
  readonly changesWithin?: boolean;
}

/** Headers that a handler reads must be named by its route. */
export const KEPT = ['if-none-match'] as const;

/** What an answer needs of its request, which cannot be read any more once the store has answered. */
export interface Asked {
  /** An address says all that was asked; else a body does. */
  readonly isLinked: boolean;
  readonly path: string;
  readonly query: string;
  readonly tag: string;
}

export const asked = (http: HttpRequest, isLinked = true): Asked => ({
  isLinked,
  path: http.path,
  query: http.query,
  tag: http.header('if-none-match'),
});

export interface Listed<R> {
  readonly rows: readonly R[];
  readonly shape: (row: R) => unknown;
}

/** The answer, or 304 where the client has it already. */
export async function pageAnswer<R>(
  { rows, shape }: Listed<R>,
  asked: Asked,
  tip: StoreTip,
  page: Page,
  { clock }: Pick<DataServices, 'clock'>,
): Promise<Answer> {
  // Bodies differ at one address, and a tag would be that of another one's rows.
  const isTagged = asked.isLinked && page.changesWithin !== true;
  const tag = isTagged ? tagOf(tip) : undefined;
  const headers: [string, string][] = [
    ...(tag === undefined ? [] : ([['etag', tag]] as [string, string][])),
    ['cache-control', `private, max-age=${FRESH_SECONDS}`],
    ['x-height', String(tip.height)],
    ['x-tip-signature', tip.signature],
  ];
  if (page.total !== undefined) headers.push(['x-total-index', String(page.total)]);
  if (page.first !== undefined) headers.push(['x-first-index', String(page.first)]);
  if (page.next !== undefined) {
    headers.push(['x-next-index', String(page.next)]);
    if (asked.isLinked) headers.push(['link', nextLink(asked, page.next)]);
  }
  if (tag !== undefined && hasTag(asked.tag, tag)) return new Answer(304, '', '', headers);
  return new Answer(200, JSON_TYPE, await printedRows(rows, shape, clock), headers);
}

/** What is final grows without a block, too. */
const tagOf = ({ signature, finalHeight }: StoreTip): string =>
  `"${signature}${finalHeight === null ? '' : `-${finalHeight}`}"`;

/** Whether a list of If-None-Match has the tag, also as a proxy weakens it (RFC 9110, 13.1.2). */
const hasTag = (list: string, tag: string): boolean =>
  list.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);

/** An answer about a block that is deep in the chain may be kept for a day. */
export function blockAnswer(json: string | Uint8Array, height: number, tip: StoreTip): Answer {
  const { finalHeight } = tip;
  const stays = finalHeight === null || height <= finalHeight;
  const isSettled = stays && tip.height - height >= SETTLED_DEPTH;
  const seconds = isSettled ? SETTLED_SECONDS : FRESH_SECONDS;
  return new Answer(200, JSON_TYPE, json, [
    ['cache-control', `private, max-age=${seconds}`],
    ['x-height', String(tip.height)],
  ]);
}

function nextLink({ path, query }: Asked, next: number): string {
  const search = new URLSearchParams(query);
  search.set('index', String(next));
  return `<${path}?${search}>; rel="next"`;
}
