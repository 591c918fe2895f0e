/** Transactions: lists, counts, single ones. */

import { stringify } from '../../../base/json/json.ts';
import { notFound } from '../../../rest-framework/answer.ts';
import { Type } from '../../../rest-framework/type.ts';
import { carriedId, mayCarry } from '../../schema/tables.ts';
import { ofOneBranch } from '../one-branch.ts';
import { type Cut, PAGE_BYTES, shownOf } from '../page-cut.ts';
import { queryBody } from '../query-body.ts';
import * as params from '../query-params.ts';
import {
  type Asked,
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
import {
  Count,
  EXTENDED_COLUMNS,
  SUMMARY_COLUMNS,
  Summary,
  type TxRow,
  transactionOf,
} from '../shapes.ts';
import { countTransactions } from '../transaction-count.ts';
import {
  checkFilter,
  countParams,
  filterParams,
  isPlain,
  type TransactionFilter,
} from '../transaction-filter.ts';
import { planPage, restOf } from '../transaction-query.ts';
import { pageStatement } from '../transaction-sql.ts';

const route = routesIn('transactions');

const scopeLabel = ({ search, scope }: TransactionFilter): string =>
  search === undefined ? 'none' : (scope ?? ['in_all']).join('+');

async function page(filter: TransactionFilter, from: Asked, services: DataServices) {
  const ended = services.meter.query(scopeLabel(filter));
  const { tip, rest, shown } = await shownRows(filter, services).finally(ended);
  const page = {
    first: shown[0] && Number(shown[0].seq),
    next: rest,
    total: tip.total,
  };
  return pageAnswer({ rows: shown, shape: transactionOf }, from, tip, page, services);
}

async function shownRows(filter: TransactionFilter, services: DataServices) {
  if (!isPlain(filter)) await requireIndexes(services);
  const read = isPlain(filter) ? rows : heavyRows;
  return await ofOneBranch(services, async (tip) => {
    const query = await planPage(filter, tip.total, services, read);
    if (query.sources.length === 0) return { tip, rest: query.rest, shown: [] };
    const { sql, values } = pageStatement(query, PAGE_BYTES);
    const found = await read<TxRow & Cut>(services, sql, values);
    const { shown, following } = shownOf(found, filter.limit);
    const rest =
      following === undefined ? await restOf(query, services, read) : Number(following.seq);
    return { tip, rest, shown };
  });
}

const list = route({
  method: 'GET',
  path: '/transactions',
  access: 'apiKey',
  doc: 'Transactions by text, type, asset, amount, date, role, address; the newest first.',
  query: filterParams,
  check: checkFilter,
  keep: KEPT,
  cost: { streamed: true },
  reply: Type.Array(Summary),
  handle: ({ query, http }, services) => page(query, asked(http), services),
});

const listPosted = route({
  method: 'POST',
  path: '/transactions',
  access: 'apiKey',
  doc: 'The same as GET /transactions, with the parameters in a JSON body.',
  body: queryBody(filterParams, checkFilter),
  keep: KEPT,
  cost: { streamed: true, bytesIn: params.BODY_BYTES_MAX, elements: 100 },
  reply: Type.Array(Summary),
  handle: ({ body, http }, services) => page(body, asked(http, false), services),
});

const counted = route({
  method: 'GET',
  path: '/transactions/count',
  access: 'apiKey',
  doc: 'The number of transactions that GET /transactions lists on all its pages.',
  query: countParams,
  check: checkFilter,
  cost: { streamed: true },
  reply: Count,
  handle: ({ query }, services) => countTransactions(query, services),
});

const countPosted = route({
  method: 'POST',
  path: '/transactions/count',
  access: 'apiKey',
  doc: 'The same as GET /transactions/count, with the parameters in a JSON body.',
  body: queryBody(countParams, checkFilter),
  cost: { streamed: true, bytesIn: params.BODY_BYTES_MAX, elements: 100 },
  reply: Count,
  handle: ({ body }, services) => countTransactions(body, services),
});

const byId = route({
  method: 'GET',
  path: '/transactions/id/{id}',
  access: 'apiKey',
  doc: 'One transaction, or the result of a contract (105) that carries it.',
  params: { id: params.pathText('Id of the transaction.') },
  query: { extended: params.extended },
  cost: { streamed: true },
  reply: Summary,
  async handle({ params: { id }, query: { extended } }, services) {
    const tip = await tipOf(services);
    const columns = extended ? EXTENDED_COLUMNS : SUMMARY_COLUMNS;
    const one = async (condition: string): Promise<TxRow | undefined> => {
      const sql = `SELECT ${columns} FROM txs t WHERE ${condition} = $1`;
      return (await rows<TxRow>(services, sql, [params.storable(id)]))[0];
    };
    let found = await one('t.id');
    if (found === undefined) {
      // The first load leaves this index for later.
      await requireIndexes(services);
      found = await one(`${mayCarry('t.')} AND ${carriedId('t.')}`);
    }
    if (found === undefined) return notFound('Transaction is not in blockchain');
    return blockAnswer(stringify(transactionOf(found)), found.height, tip);
  },
});

export const transactions = { list, listPosted, counted, countPosted, byId };
