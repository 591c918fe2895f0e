/** What addresses hold, as a node tells it. */

import { isObject } from '../../base/json/json.ts';
import { addressBalances } from '../../rest/routes/address-balances.ts';
import { assets } from '../../rest/routes/assets.ts';
import type { Client } from '../../rest-framework/client.ts';
import { unlessTooLong } from './block-parts.ts';
import { int64, objects, text } from './storable.ts';

/** The amount of each asset of an address; `''` is the native coin. */
export type Holdings = ReadonlyMap<string, bigint>;

/** Assets of one page; each comes with the transaction that issued it. */
const PAGE = 1000;

/** Of the addresses of which both answers tell. */
export function holdingsOf(native: unknown, others: unknown): ReadonlyMap<string, Holdings> {
  const found = new Map<string, Holdings>();
  const lists = new Map(Object.entries(isObject(others) ? others : {}));
  for (const details of objects(native)) {
    const address = text(details['address']);
    const amount = int64(details['regular']);
    const assets = address === undefined ? undefined : assetsOf(lists.get(address));
    if (address === undefined || amount === undefined || assets === undefined) continue;
    found.set(address, new Map([['', amount], ...assets.filter(([, held]) => held > 0n)]));
  }
  return found;
}

/**
 * Page by page, and with smaller pages where the node refuses one. Throws where an answer leaves the
 * address out.
 */
export async function holdingsInParts(call: Client['call'], address: string): Promise<Holdings> {
  const body = { addresses: [address] };
  const native = await call(addressBalances.balanceDetailsOfMany, { body });
  const holdings = new Map(holdingsOf(native, { [address]: [] }).get(address));
  if (holdings.size === 0) throw new Error(`the node leaves ${address} out`);
  let after: string | undefined;
  for (let limit = PAGE; ; ) {
    const asked = call(assets.balances, { params: { address }, query: { limit, after } });
    const page: unknown = await unlessTooLong(asked);
    if (page === undefined) {
      if (limit === 1) throw new Error(`an asset of ${address} is too long for an answer`);
      limit = Math.ceil(limit / 2);
      continue;
    }
    const listed = assetsOf(isObject(page) ? page['balances'] : undefined);
    const last = listed?.at(-1)?.[0];
    if (listed === undefined || listed.length > limit || (last !== undefined && last === after)) {
      throw new Error(`the node does not give the assets of ${address} in pages`);
    }
    for (const [asset, amount] of listed) if (amount > 0n) holdings.set(asset, amount);
    if (last === undefined) return holdings;
    after = last;
  }
}

/** The amount of each asset of a list; undefined where it is none. */
function assetsOf(list: unknown): [string, bigint][] | undefined {
  if (!Array.isArray(list)) return undefined;
  const found: [string, bigint][] = [];
  for (const held of list) {
    const { assetId, balance } = isObject(held) ? held : {};
    const [asset, amount] = [text(assetId), int64(balance)];
    if (asset === undefined || amount === undefined) return undefined;
    found.push([asset, amount]);
  }
  return found;
}
