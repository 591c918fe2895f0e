/** What addresses hold, as a node tells it. */
import type { Client } from '../../api/client.ts';
import { RefusedError } from '../../api/client.ts';
import { addressBalances } from '../../api/routes/address-balances.ts';
import { assets } from '../../api/routes/assets.ts';
import { AnswerTooLong } from '../../base/http.ts';
import { isObject } from '../../base/json.ts';
import { int64, objects, text } from './storable.ts';

/** The amount of each asset of an address; `''` is the native coin. */
export type Holdings = ReadonlyMap<string, bigint>;

/** Assets of one page; each comes with the transaction that issued it. */
const PAGE = 1000;

/** Of the addresses that the node knows how to read. */
export function holdingsOf(native: unknown, others: unknown): ReadonlyMap<string, Holdings> {
  const found = new Map<string, Map<string, bigint>>();
  for (const details of objects(native)) {
    const address = text(details['address']);
    const amount = int64(details['regular']);
    if (address !== undefined && amount !== undefined) found.set(address, new Map([['', amount]]));
  }
  for (const [address, held] of Object.entries(isObject(others) ? others : {})) {
    const holdings = found.get(address);
    if (holdings !== undefined) addAssets(holdings, held);
  }
  return found;
}

/** Page by page, and with smaller pages where the node refuses one. */
export async function holdingsInParts(call: Client['call'], address: string): Promise<Holdings> {
  const body = { addresses: [address] };
  const native = await call(addressBalances.balanceDetailsOfMany, { body });
  const holdings = new Map(holdingsOf(native, {}).get(address));
  let after: string | undefined;
  for (let limit = PAGE; ; ) {
    const page = await pageOf(call, address, limit, after);
    if (page === undefined) {
      if (limit === 1) throw new Error(`an asset of ${address} is too long for an answer`);
      limit = Math.ceil(limit / 2);
      continue;
    }
    const last = text(page.at(-1)?.['assetId']);
    if (page.length > limit || (last !== undefined && last === after)) {
      throw new Error('the node does not give the assets of an address in pages');
    }
    addAssets(holdings, page);
    if (last === undefined) return holdings;
    after = last;
  }
}

/** Undefined where it is too long. */
async function pageOf(
  call: Client['call'],
  address: string,
  limit: number,
  after: string | undefined,
) {
  try {
    const query = { limit, after };
    return objects((await call(assets.balances, { params: { address }, query })).balances);
  } catch (cause) {
    const isTooLong =
      cause instanceof AnswerTooLong || (cause instanceof RefusedError && cause.status === 413);
    if (isTooLong) return undefined;
    throw cause;
  }
}

function addAssets(holdings: Map<string, bigint>, held: unknown): void {
  for (const { assetId, balance } of objects(held)) {
    const amount = int64(balance) ?? 0n;
    if (typeof assetId === 'string' && amount > 0n) holdings.set(assetId, amount);
  }
}
