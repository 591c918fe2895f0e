/**
 * The filters of a list or a count of transactions: as rows of an index for each filter that has one,
 * and as conditions, for which the rows of another index are looked at one by one.
 */
import { AUTHOR, PARTICIPANT } from '../crawler/rows/rows.ts';
import { contractOf, mayHaveContract } from '../schema/tables.ts';
import { lastMs } from './query-params.ts';
import { partyIs, type Source } from './search-sources.ts';
import type { SqlValues } from './sql-values.ts';
import type { TransactionFilter } from './transaction-filter.ts';
import { between, type Range } from './windows.ts';

export interface RangeQuery {
  readonly filter: TransactionFilter;
  /** The ordinals of this page. */
  readonly range: Range;
}

/** Rows that are looked up for one answer: each costs ten times as much as an entry of an index. */
export const LOOKED_UP_MAX = 50_000;

/** Rows of an index for each filter that has one. */
export function driversOf(filter: TransactionFilter): readonly (readonly Source[])[] {
  const { recipient, sender, permissions, type, assetId, contractId } = filter;
  return [
    ...(recipient === undefined ? [] : [[partyIs(recipient, PARTICIPANT)]]),
    ...(sender === undefined ? [] : [[partyIs(sender, AUTHOR)]]),
    ...(permissions === undefined ? [] : [roleSources(permissions)]),
    ...(type === undefined ? [] : [typeSources(type)]),
    ...(assetId === undefined ? [] : [assetIs(filter)]),
    ...(hasAmounts(filter) ? [[amountIs(filter)]] : []),
    ...(contractId === undefined ? [] : [[ofTxs({ contractId })]]),
  ];
}

export const hasAmounts = ({ amountFrom, amountTo }: TransactionFilter): boolean =>
  amountFrom !== undefined || amountTo !== undefined;

/** An index of transactions has the columns of these filters in this order, as far as they are given. */
const COLUMNS = [
  { name: 'assetId', column: 's.asset_id', cast: 'text', only: 's.asset_id IS NOT NULL' },
  { name: 'type', column: 's.type', cast: 'smallint', only: 'true' },
  { name: 'amount', column: 's.amount', cast: 'bigint', only: 's.amount IS NOT NULL' },
  {
    name: 'contractId',
    column: contractOf('s.'),
    cast: 'text',
    only: mayHaveContract('s.'),
  },
] as const;

/** The filter may have one type at most. */
export const ofTxs = (filter: Partial<TransactionFilter>): Source => ({
  from: 'txs',
  finding: 'in-order',
  where: (values) => conditions(filter, 's', values).join(' AND ') || 'true',
  key: (values) =>
    COLUMNS.flatMap(({ name, column, cast, only }) => {
      const [value] = [filter[name] ?? []].flat();
      return value === undefined ? [] : [{ column, value: values.add(value, cast), only }];
    }),
});

/** Indexes have the type and the amount between the asset and the ordinal. */
export const assetIs = ({ assetId, type, amount }: TransactionFilter): readonly Source[] =>
  type === undefined
    ? [ofTxs({ assetId })]
    : type.map((one) => ofTxs({ assetId, amount, type: [one] }));

export const amountIs = ({ assetId, type, amountFrom, amountTo }: TransactionFilter): Source => ({
  ...ofTxs({ assetId, type, amountFrom, amountTo }),
  order: 's.amount',
});

export const roleSources = (roles: readonly string[]): readonly Source[] =>
  roles.map((role) => ({
    from: 'permission_ops',
    finding: 'in-order',
    where: (values) => `s.role = ${values.add(role)}`,
    key: (values) => [{ column: 's.role', value: values.add(role) }],
  }));

/** Each type has its own run in the index. */
export const typeSources = (types: readonly number[]): readonly Source[] =>
  types.map((type) => ofTxs({ type: [type] }));

/** Conditions on the transaction itself, beside those of a source. */
export function conditions(
  filter: Partial<TransactionFilter>,
  t: string,
  values: SqlValues,
): string[] {
  const { type, assetId, amount, amountFrom, amountTo, dateFrom, dateTo, contractId } = filter;
  const found: string[] = [];
  const [only] = type ?? [];
  if (type?.length === 1) found.push(`${t}.type = ${values.add(only!, 'smallint')}`);
  else if (type !== undefined)
    found.push(`${t}.type = ANY(${values.add([...type], 'smallint[]')})`);
  if (assetId !== undefined) found.push(`${t}.asset_id = ${values.add(assetId)}`);
  if (amount !== undefined) found.push(`${t}.amount = ${values.add(amount, 'bigint')}`);
  if (amountFrom !== undefined) found.push(`${t}.amount >= ${values.add(amountFrom, 'bigint')}`);
  if (amountTo !== undefined) found.push(`${t}.amount <= ${values.add(amountTo, 'bigint')}`);
  if (dateFrom !== undefined && dateTo !== undefined) {
    found.push(`${t}.ts BETWEEN ${values.add(dateFrom)} AND ${values.add(lastMs(dateTo))}`);
  }
  if (contractId !== undefined) {
    const isContract = `${contractOf(`${t}.`)} = ${values.add(contractId)}`;
    found.push(`${mayHaveContract(`${t}.`)} AND ${isContract}`);
  }
  return found;
}

/**
 * Those of some ordinals whose transactions satisfy all filters, and are of one of the sources where
 * there are some. A value instead of a join, and no sub-select that could become one: the planner
 * takes filters that never meet for ones that often do.
 */
export function lookedUp(
  ordinals: string,
  { filter, range }: RangeQuery,
  values: SqlValues,
  oneOf: readonly Source[] = [],
): string {
  const found = [between('r.seq', range), ...conditions(filter, 't', values)];
  const { sender, recipient, permissions } = filter;
  const anyOf = (sources: readonly Source[]): void => {
    found.push(`(${sources.map((source) => isOf(source, values)).join(' OR ')})`);
  };
  if (recipient !== undefined) anyOf([partyIs(recipient, PARTICIPANT)]);
  if (sender !== undefined) anyOf([partyIs(sender, AUTHOR)]);
  if (permissions !== undefined) anyOf(roleSources(permissions));
  if (oneOf.length > 0) anyOf(oneOf);
  return `SELECT r.seq FROM ${ordinals} r
    CROSS JOIN LATERAL (SELECT * FROM txs WHERE seq = r.seq OFFSET 0) t
    WHERE ${found.join(' AND ')}`;
}

const isOf = ({ from, where }: Source, values: SqlValues): string =>
  `coalesce((SELECT true FROM ${from} s WHERE s.seq = r.seq AND ${where(values)} LIMIT 1), false)`;
