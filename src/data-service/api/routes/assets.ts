/** Assets and their issue. */

import { integer, stringify } from '../../../base/json/json.ts';
import { notFound } from '../../../rest-framework/answer.ts';
import { Type } from '../../../rest-framework/type.ts';
import { ofOneBranch } from '../one-branch.ts';
import { type Cut, shownOf } from '../page-cut.ts';
import type { Sort } from '../query-params.ts';
import * as params from '../query-params.ts';
import {
  asked,
  blockAnswer,
  heavyRows,
  KEPT,
  pageAnswer,
  requireIndexes,
  rows,
  tipOf,
} from '../reading.ts';
import { type DataServices, routesIn } from '../services.ts';
import { AssetIssue, Count, SUMMARY_COLUMNS, summaryOf, type TxRow } from '../shapes.ts';
import { hasPart, type SoughtText, soughtText } from '../sought-text.ts';
import { type SqlValues, sqlValues, startsWith } from '../sql-values.ts';
import {
  between,
  fewByBucket,
  inOrder,
  isEmpty,
  type PageOf,
  type Range,
  rangeFrom,
  type Select,
} from '../windows.ts';

const route = routesIn('assets');

interface AssetRow extends TxRow, Cut {
  readonly asset_id: string;
  readonly name: string;
  readonly description: string;
  readonly quantity: string;
  readonly issued_quantity: string;
  readonly decimals: number;
  readonly reissuable: boolean;
  readonly issued_reissuable: boolean;
}

const COLUMNS = `${SUMMARY_COLUMNS}, a.asset_id, a.name, a.description, a.quantity, a.issued_quantity,
  a.decimals, a.reissuable, a.issued_reissuable`;

function assetOf(row: AssetRow, extended: boolean) {
  const now = {
    currentQuantity: integer(BigInt(row.quantity)),
    currentReissuable: row.reissuable,
  };
  return {
    ...summaryOf(row),
    assetId: row.asset_id,
    name: row.name,
    description: row.description,
    quantity: integer(BigInt(row.issued_quantity)),
    decimals: row.decimals,
    reissuable: row.issued_reissuable,
    ...(extended ? now : {}),
  };
}

/** Assets whose name or description has the text, and those whose id begins with it. */
function searched(search: SoughtText, values: SqlValues): readonly Select[] {
  const text = `(a.name || ' ' || a.description)`;
  const conditions = [hasPart(text, search, values), startsWith('a.asset_id', search.text, values)];
  return conditions.map((own) => (condition, ordinal, sort) => {
    const order = sort === undefined ? '' : `ORDER BY ${ordinal} ${sort}`;
    return `SELECT ${ordinal} AS seq FROM assets a WHERE ${own} AND ${condition} ${order}`;
  });
}

/** The ordinals of a page. */
function pageOf(search: SoughtText | undefined, page: PageOf, values: SqlValues): string {
  if (search === undefined) {
    return inOrder(page, 'a.seq', (condition, ordinal, sort) => {
      return `SELECT seq FROM assets a WHERE ${condition} ORDER BY ${ordinal} ${sort}`;
    });
  }
  const [ofText, ofId] = searched(search, values);
  const byText = (isCompared(search) ? inOrder : fewByBucket)(page, 'a.seq', ofText!);
  return `(${byText} UNION ${inOrder(page, 'a.seq + 0', ofId!)})`;
}

/** A text that no index knows is compared with so many assets for a page. */
const COMPARED_MAX = 20_000;

const isCompared = (search: SoughtText | undefined): boolean =>
  search !== undefined && search.indexed === undefined;

/** Undefined where no text is looked for. */
async function soughtIn(search: string | undefined, services: DataServices) {
  if (search === undefined) return undefined;
  await requireIndexes(services);
  return soughtText(search, services);
}

/** The ordinals of a page, and the first one behind them where such a text ends it. */
async function window(
  search: SoughtText | undefined,
  range: Range,
  sort: Sort,
  services: DataServices,
): Promise<readonly [Range, rest: number | undefined]> {
  if (!isCompared(search)) return [range, undefined];
  const [next] = await rows<{ seq: string }>(
    services,
    `SELECT seq FROM assets WHERE ${between('seq', range)} ORDER BY seq ${sort}
     OFFSET ${COMPARED_MAX} LIMIT 1`,
  );
  if (next === undefined) return [range, undefined];
  const rest = Number(next.seq);
  return [sort === 'desc' ? { ...range, low: rest + 1 } : { ...range, high: rest - 1 }, rest];
}

const query = {
  search: params.search,
  index: params.index,
  limit: params.limit,
  sort: params.sort,
  extended: params.extended,
};

const list = route({
  method: 'GET',
  path: '/assets',
  access: 'apiKey',
  doc: 'Assets by the beginning of their id, by name and description; the newest first.',
  query,
  keep: KEPT,
  cost: { streamed: true },
  reply: Type.Array(AssetIssue),
  async handle({ query: { search: text, index, limit, sort, extended }, http }, services) {
    const from = asked(http);
    const search = await soughtIn(text, services);
    return ofOneBranch(services, async (tip) => {
      const values = sqlValues();
      const [range, rest] = await window(search, rangeFrom(index, sort, tip.total), sort, services);
      const most = limit + 1;
      const found = isEmpty(range)
        ? []
        : await heavyRows<AssetRow>(
            services,
            `SELECT ${COLUMNS} FROM (SELECT seq FROM ${pageOf(search, { range, sort, most }, values)} found
             ORDER BY seq ${sort} LIMIT ${most}) page
           JOIN assets a USING (seq) JOIN txs t USING (seq) ORDER BY seq ${sort}`,
            values.list,
          );
      const { shown, following } = shownOf(found, limit);
      const shape = (row: AssetRow) => assetOf(row, extended);
      const page = {
        first: shown[0] && Number(shown[0].seq),
        next: following === undefined ? rest : Number(following.seq),
        total: tip.total,
      };
      return pageAnswer({ rows: shown, shape }, from, tip, page, services);
    });
  },
});

async function countAssets(text: string | undefined, services: DataServices) {
  // Every asset has its own issue.
  const all = 'SELECT n AS count FROM type_counts WHERE type = 3';
  const search = await soughtIn(text, services);
  if (isCompared(search)) {
    const [issued] = await rows<{ count: string }>(services, all);
    if (Number(issued?.count ?? 0) > COMPARED_MAX) throw params.uncountable(COMPARED_MAX, 'assets');
  }
  const values = sqlValues();
  const parts =
    search === undefined ? [] : searched(search, values).map((select) => select('true', 'a.seq'));
  const sql =
    parts.length === 0 ? all : `SELECT count(*) AS count FROM (${parts.join(' UNION ')}) found`;
  const [found] = await heavyRows<{ count: string }>(services, sql, values.list);
  return { count: found?.count ?? '0' };
}

const count = route({
  method: 'GET',
  path: '/assets/count',
  access: 'apiKey',
  doc: 'The number of assets that GET /assets lists on all its pages.',
  query: { search: params.search },
  cost: { streamed: true },
  reply: Count,
  handle: ({ query: { search } }, services) => countAssets(search, services),
});

const byId = route({
  method: 'GET',
  path: '/assets/{id}',
  access: 'apiKey',
  doc: 'One asset.',
  params: { id: params.pathText('Id of the asset.') },
  query: { extended: params.extended },
  cost: { streamed: true },
  reply: AssetIssue,
  async handle({ params: { id }, query: { extended } }, services) {
    const tip = await tipOf(services);
    const [found] = await rows<AssetRow>(
      services,
      `SELECT ${COLUMNS} FROM assets a JOIN txs t ON t.seq = a.seq WHERE a.asset_id = $1`,
      [params.storable(id)],
    );
    if (found === undefined) return notFound('Asset is not in blockchain');
    // Reissues and burns change an old asset too.
    return blockAnswer(stringify(assetOf(found, extended)), tip.height, tip);
  },
});

const HOLDERS_MAX = 500;
const Holder = Type.Object({
  address: Type.String(),
  amount: Type.Unsafe<bigint>({ type: 'integer', format: 'int64' }),
});

const holders = route({
  method: 'GET',
  path: '/assets/{id}/holders',
  access: 'apiKey',
  doc: 'The largest holders of an asset; NATIVE for the native coin.',
  params: { id: params.pathText('Id of the asset, or NATIVE.') },
  query: { limit: params.limit },
  cost: { streamed: true },
  reply: Type.Array(Holder),
  async handle({ params: { id }, query: { limit } }, services) {
    await requireIndexes(services);
    const found = await rows<{ address: string; amount: string }>(
      services,
      `SELECT address, amount FROM balances WHERE asset_id = $1 AND amount > 0
       ORDER BY amount DESC, address DESC LIMIT ${Math.min(limit, HOLDERS_MAX)}`,
      [id === 'NATIVE' ? '' : params.storable(id)],
    );
    return found.map(({ address, amount }) => ({ address, amount: BigInt(amount) }));
  },
});

export const assets = { list, count, byId, holders };
