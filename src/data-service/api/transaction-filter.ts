/** The parameters of lists and counts of transactions, and the rules between them. */
import type { ParamValues } from '../../rest-framework/params.ts';
import type { Problems } from '../../rest-framework/route.ts';
import { genesisPermit } from '../../tx/types/101-genesis-permit.ts';
import { permit } from '../../tx/types/102-permit.ts';
import * as params from './query-params.ts';

export const filterParams = {
  search: params.search,
  scope: params.scopesOf(params.SCOPES),
  type: params.type,
  assetId: params.assetId,
  amount: params.amount,
  amountFrom: params.amountFrom,
  amountTo: params.amountTo,
  dateFrom: params.dateFrom,
  dateTo: params.dateTo,
  permissions: params.permissions,
  index: params.index,
  limit: params.limit,
  sort: params.sort,
  sender: params.sender,
  recipient: params.recipient,
  heightFrom: params.heightFrom,
  heightTo: params.heightTo,
  contractId: params.contractId,
  extended: params.extended,
};

/** The parameters of a count. */
export const countParams = { ...filterParams, countTo: params.countTo };

export type TransactionFilter = ParamValues<typeof filterParams>;

/** Filters that a range of ordinals answers. */
export const RANGE_FILTERS = ['heightFrom', 'heightTo', 'dateFrom', 'dateTo'] as const;

/** True where no filter is set, or none but these. */
export const isPlain = (
  filter: TransactionFilter,
  ...but: readonly (keyof TransactionFilter)[]
): boolean =>
  (Object.keys(filterParams) as (keyof TransactionFilter)[]).every((name) => {
    const isPaging = ['index', 'limit', 'sort', 'extended'].includes(name);
    return isPaging || but.includes(name) || filter[name] === undefined;
  });

const PERMISSION_TYPES: readonly number[] = [genesisPermit.type, permit.type];

export function checkFilter(filter: Partial<TransactionFilter>): Problems {
  const problems: Record<string, string> = {};
  Object.assign(problems, checkAmounts(filter), checkDates(filter));
  const { type, permissions, heightFrom, heightTo } = filter;
  if (permissions !== undefined && !type?.every((one) => PERMISSION_TYPES.includes(one))) {
    problems['permissions'] = "requires 'type' 101 or 102";
  }
  if (heightFrom !== undefined && heightTo !== undefined && heightFrom > heightTo) {
    problems['heightFrom'] = "must not be greater than 'heightTo'";
  }
  if (filter.scope !== undefined && filter.search === undefined) {
    problems['scope'] = "requires 'search'";
  }
  return problems;
}

function checkAmounts(filter: Partial<TransactionFilter>): Problems {
  const problems: Record<string, string> = {};
  const { type, assetId, amount, amountFrom, amountTo } = filter;
  const given = { amount, amountFrom, amountTo };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const missing = [
      ...(type?.length === 1 ? [] : ["exactly one 'type'"]),
      ...(assetId === undefined ? ["'assetId'"] : []),
    ];
    if (missing.length > 0) problems[name] = `requires ${missing.join(' and ')}`;
  }
  if (amount !== undefined && (amountFrom !== undefined || amountTo !== undefined)) {
    problems['amount'] = "excludes 'amountFrom' and 'amountTo'";
  }
  if (amountFrom !== undefined && amountTo !== undefined && amountFrom > amountTo) {
    problems['amountFrom'] = "must not be greater than 'amountTo'";
  }
  return problems;
}

export function checkDates({
  dateFrom,
  dateTo,
}: {
  dateFrom?: number | undefined;
  dateTo?: number | undefined;
}): Problems {
  if (dateFrom !== undefined && dateTo === undefined) return { dateFrom: "requires 'dateTo'" };
  if (dateTo !== undefined && dateFrom === undefined) return { dateTo: "requires 'dateFrom'" };
  const isReversed = dateFrom !== undefined && dateTo !== undefined && dateFrom > dateTo;
  return isReversed ? { dateFrom: "must not be after 'dateTo'" } : {};
}
