/** The holders of an asset and their balances, now and at past heights. */

import { apiError } from '../../base/errors.ts';
import { I32_MAX } from '../../base/int.ts';
import { holdersOf } from '../../ledger/assets.ts';
import { everHolders, type Holder } from '../../ledger/balance-history.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { Int64 } from '../../rest-framework/body.ts';
import { endingWith, streamed } from '../../rest-framework/json-chunks.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { isId } from '../by-id.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import type { Services } from '../services.ts';

const route = routesIn('assets');
const MAX_ID_CHARS = 44;

const assetOfDistribution = params.bytes58(
  'Id of an asset.',
  (text) =>
    apiError(
      'Invalid',
      text.length > MAX_ID_CHARS ? 'Unexpected assetId length' : 'Must be base58-encoded assetId',
    ),
  MAX_ID_CHARS,
);

const Amounts = Type.Record(Type.String(), Int64);

/** Each name with its amount in one chunk, which clients may get as a text. */
function* byAddress(items: Iterable<Holder>, { scheme }: Services): Generator<string> {
  let before = '{';
  for (const [address, amount] of items) {
    yield `${before}"${scheme.addressToText(address)}":${amount}`;
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

const distribution = route({
  method: 'GET',
  path: '/assets/{assetId}/distribution',
  access: 'public',
  doc: 'The holders of an asset and their balances.',
  cost: { streamed: true, rows: limits.entryRows },
  params: { assetId: assetOfDistribution },
  reply: Amounts,
  handle: ({ params: { assetId } }) =>
    streamed((services) => {
      const { view } = services;
      return byAddress(isId(assetId) ? holdersOf(view, assetId, limits.entryRows) : [], services);
    }),
});

/** A number of the paged distribution, which has its own error texts. */
const counted = (doc: string, problem: (value: number) => string | undefined) => ({
  doc,
  schema: { type: 'integer', format: 'int32', minimum: 1 },
  parse(text: string): number {
    const value = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    const why = !(Math.abs(value) <= I32_MAX)
      ? `Unable to parse Integer from '${text}'`
      : problem(value);
    if (why !== undefined) throw apiError('Invalid', why);
    return value;
  },
});

const distributionAt = route({
  method: 'GET',
  path: '/assets/{assetId}/distribution/{height}/limit/{limit}',
  access: 'public',
  doc: 'The holders of an asset and their balances at a past height, page by page.',
  cost: { streamed: true, rows: limits.listRows },
  params: {
    assetId: assetOfDistribution,
    height: counted('A height below the current one.', (value) =>
      value > 0 ? undefined : 'Height should be greater than zero',
    ),
    limit: counted('The most addresses to list.', (value) =>
      value > 0 ? undefined : 'Limit should be greater than 0',
    ),
  },
  query: { after: params.optional(params.address, undefined) },
  reply: Type.Object({
    hasNext: Type.Boolean(),
    lastItem: Type.Union([Type.String(), Type.Null()]),
    items: Amounts,
  }),
  handle({ params: { assetId, height, limit }, query: { after } }, services) {
    const most = services.settings.distributionAddressLimit;
    if (limit >= most) throw apiError('Invalid', `Limit should be less than ${most}`);
    const top = services.height();
    if (height >= top) {
      throw apiError('Invalid', `Height should be less than current height ${top}`);
    }
    return streamed(function* (of) {
      const { hasNext, last, items } = yield* pageAt(of.view, assetId, height, limit, after?.bytes);
      const lastItem = last === undefined ? null : of.scheme.addressToText(last);
      yield* endingWith({ hasNext, lastItem }, 'items', byAddress(items, of));
    });
  },
});

export interface HoldersPage {
  readonly items: readonly Holder[];
  readonly hasNext: boolean;
  /** The next page begins after this address, which need not be among the items. */
  readonly last: Uint8Array | undefined;
}

/** The answer skips addresses without a balance at that height, but only this many of them. */
const VISITED_MAX = 10_000;

/** In the order of addresses, starting after `after`; at most `limit`. */
export function* pageAt(
  view: LedgerView,
  assetId: Uint8Array,
  height: number,
  limit: number,
  after?: Uint8Array,
): Generator<undefined, HoldersPage> {
  const items: Holder[] = [];
  let last = after;
  let visited = 0;
  const holders = isId(assetId) ? everHolders(view, assetId, height, after) : [];
  for (const holder of holders) {
    if (items.length === limit || visited === VISITED_MAX) return { items, hasNext: true, last };
    visited++;
    yield undefined;
    [last] = holder;
    if (holder[1] > 0n) items.push(holder);
  }
  return { items, hasNext: false, last: items.at(-1)?.[0] };
}

export const assetDistribution = { distribution, distributionAt };
