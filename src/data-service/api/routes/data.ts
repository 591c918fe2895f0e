/** Entries of data transactions by key and value. */
import { Type } from '../../../rest-framework/type.ts';
import { ofOneBranch } from '../one-branch.ts';
import { type Cut, PAGE_BYTES } from '../page-cut.ts';
import type { Sort } from '../query-params.ts';
import * as params from '../query-params.ts';
import { type Asked, asked, heavyRows, KEPT, pageAnswer, requireIndexes } from '../reading.ts';
import { keyIs, valueIs } from '../search-sources.ts';
import { type DataServices, routesIn } from '../services.ts';
import { DataEntry, type EntryRow, entryOf, SUMMARY_COLUMNS } from '../shapes.ts';
import { sqlValues } from '../sql-values.ts';

const route = routesIn('data');
const query = { index: params.index, limit: params.limit, sort: params.sort };
const key = params.pathText('Key of an entry.');
const value = params.pathText('Value of an entry as text; bytes as base64:…');

interface Query {
  readonly index: number | undefined;
  readonly limit: number;
  readonly sort: Sort;
}

interface Wanted {
  readonly key: string;
  readonly value?: string;
}

type Show = 'ids' | 'entries';

async function page(wanted: Wanted, show: Show, of: Query, from: Asked, services: DataServices) {
  const { index, limit, sort } = of;
  await requireIndexes(services);
  return ofOneBranch(services, async (tip) => {
    const values = sqlValues();
    const conditions = [
      keyIs(params.storable(wanted.key), values),
      ...(wanted.value === undefined ? [] : [valueIs(params.storable(wanted.value), values)]),
      `s.seq ${sort === 'desc' ? '<=' : '>='} ${values.add(index ?? (sort === 'desc' ? tip.total : 1))}`,
    ].join(' AND ');
    const order = show === 'ids' ? `t.seq ${sort}` : `t.seq ${sort}, e.position_in_tx`;
    const entries = (columns: string, size: string): string =>
      `(SELECT ${columns} FROM data_entries s WHERE ${conditions} ORDER BY seq ${sort} ${size})`;
    const sql =
      show === 'ids'
        ? `SELECT ${SUMMARY_COLUMNS} FROM ${entries('DISTINCT s.seq', `LIMIT ${limit + 1}`)} e`
        : `SELECT ${SUMMARY_COLUMNS}, e.position_in_tx, ${CUT} FROM ${entries(
            's.seq, s.key, s.value, s.position_in_tx',
            `FETCH FIRST ${limit + 1} ROWS WITH TIES`,
          )} e`;
    const found = await heavyRows<EntryRow & Cut>(
      services,
      `${sql} JOIN txs t ON t.seq = e.seq ${show === 'ids' ? '' : windowOf(sort)} ORDER BY ${order}`,
      values.list,
    );
    const { shown, next } = wholeTransactions(found, of, tip.total);
    const page = { first: shown[0] && Number(shown[0].seq), next, total: tip.total };
    const shape = show === 'ids' ? ({ id }: EntryRow) => ({ id }) : entryOf;
    return pageAnswer({ rows: shown, shape }, from, tip, page, services);
  });
}

/** The store knows the length of a text without reading it. */
const BYTES = 'sum(octet_length(e.key) + octet_length(e.value)) OVER earlier';
const IS_SHOWN = `coalesce(${BYTES}, 0) < ${PAGE_BYTES}`;
const CUT = `${IS_SHOWN} AS is_shown, CASE WHEN ${IS_SHOWN} THEN e.key END AS key,
  CASE WHEN ${IS_SHOWN} THEN e.value END AS value`;
/** The entries of the transactions before. */
const windowOf = (sort: Sort): string =>
  `WINDOW earlier AS (ORDER BY e.seq ${sort} GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;

/**
 * A page ends with a transaction, because the next one begins with a transaction. One transaction may
 * have several entries of a key: keys that differ only by what no text of the store can hold.
 */
function wholeTransactions<R extends Cut & Pick<EntryRow, 'seq'>>(
  found: readonly R[],
  { limit, sort }: Query,
  total: number,
): { readonly shown: readonly R[]; readonly next: number | undefined } {
  const last = found[limit - 1]?.seq;
  const shown = found.filter(
    ({ seq, is_shown }, i) => (i < limit || seq === last) && is_shown !== false,
  );
  const following = found[shown.length];
  if (following !== undefined) return { shown, next: Number(following.seq) };
  // The row that tells of a next page was of this transaction itself.
  const next = Number(last) + (sort === 'desc' ? -1 : 1);
  const mayGoOn = shown.length > limit && next >= 1 && next <= total;
  return { shown, next: mayGoOn ? next : undefined };
}

const Ids = Type.Array(Type.Object({ id: Type.String() }));
const cost = { streamed: true } as const;
const shared = { method: 'GET', access: 'apiKey', query, keep: KEPT, cost } as const;

const idsOfKey = route({
  ...shared,
  path: '/api/v1/txIds/{key}',
  doc: 'Ids of the transactions with an entry of this key.',
  params: { key },
  reply: Ids,
  handle: ({ params, query, http }, services) => page(params, 'ids', query, asked(http), services),
});

const idsOfValue = route({
  ...shared,
  path: '/api/v1/txIds/{key}/{value}',
  doc: 'Ids of the transactions with an entry of this key and value.',
  params: { key, value },
  reply: Ids,
  handle: ({ params, query, http }, services) => page(params, 'ids', query, asked(http), services),
});

const entriesOfKey = route({
  ...shared,
  path: '/api/v1/txData/{key}',
  doc: 'The entries of this key. A page ends with a transaction, so it may have 99 rows more.',
  params: { key },
  reply: Type.Array(DataEntry),
  handle: ({ params, query, http }, services) =>
    page(params, 'entries', query, asked(http), services),
});

const entriesOfValue = route({
  ...shared,
  path: '/api/v1/txData/{key}/{value}',
  doc: 'The entries of this key and value. A page ends with a transaction, so it may have 99 rows more.',
  params: { key, value },
  reply: Type.Array(DataEntry),
  handle: ({ params, query, http }, services) =>
    page(params, 'entries', query, asked(http), services),
});

export const data = { idsOfKey, idsOfValue, entriesOfKey, entriesOfValue };
