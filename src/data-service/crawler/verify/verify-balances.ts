/**
 * Compares stored balances with those of a node, at one state of both: balances that later blocks
 * may change are left out, and so are those that the store knows to be outdated.
 */

import { pause } from '../../../base/deadline.ts';
import type { Clock } from '../../../base/ports/clock.ts';
import type { Database } from '../../../base/ports/database.ts';
import { areLinked, type ChainBlock } from '../chain-block.ts';
import { fetchRange } from '../fetch-blocks.ts';
import type { Holdings } from '../holdings.ts';
import type { NodeReader } from '../node-reader.ts';
import { nothingKnown, prepareBatch, readCursor } from '../prepare-batch.ts';
import { holdingsOfAll } from '../refresh/refresh-balances.ts';
import { readTip, type Tip } from '../store-end.ts';

export interface VerifiedBalances {
  /** Addresses that were compared. */
  readonly compared: number;
  /** Addresses that could not be: the chain changed them meanwhile, or the store is too far behind. */
  readonly left: number;
  /** Addresses whose balances differ, at most 100 of them. */
  readonly different: readonly string[];
}

const ADDRESSES_AT_ONCE = 200;
const DIFFERENT_MAX = 100;
/** Blocks between the store and the node; beyond them nothing is compared. */
const AHEAD_MAX = 100;
const ATTEMPTS = 10;
const AGAIN_MS = 500;

/** `addresses` in portions: all of the store, or a sample. */
export async function verifyBalances(
  db: Database,
  node: NodeReader,
  clock: Pick<Clock, 'after'>,
  addresses: AsyncIterable<readonly string[]>,
): Promise<VerifiedBalances> {
  const different: string[] = [];
  let compared = 0;
  let left = 0;
  for await (const asked of addresses) {
    let found = await compare(db, node, asked);
    for (let attempt = 1; found === undefined && attempt < ATTEMPTS; attempt++) {
      await pause(clock, AGAIN_MS);
      found = await compare(db, node, asked);
    }
    compared += found?.compared ?? 0;
    left += asked.length - (found?.compared ?? 0);
    different.push(...(found?.different ?? []));
    if (different.length >= DIFFERENT_MAX) break;
  }
  return { compared, left, different: different.slice(0, DIFFERENT_MAX) };
}

/** In the order of the chain. */
async function* allAddresses(db: Database): AsyncGenerator<readonly string[]> {
  for (let after = 0; ; ) {
    const rows = await db.query<{ address: string; ordinal: string }>(
      'SELECT address, ordinal FROM users WHERE ordinal > $1 ORDER BY ordinal LIMIT $2',
      [after, ADDRESSES_AT_ONCE],
    );
    if (rows.length === 0) return;
    yield rows.map(({ address }) => address);
    after = Number(rows.at(-1)?.ordinal);
  }
}

/** This many addresses, or all; `below` draws an integer from 0 to below its bound. */
export async function* sampleOf(
  db: Database,
  count: number,
  below: (bound: number) => number,
): AsyncGenerator<readonly string[]> {
  const [users] = await db.query<{ last: string | null }>('SELECT max(ordinal) AS last FROM users');
  const last = Number(users?.last ?? 0);
  if (last <= count) return yield* allAddresses(db);
  const drawn = new Set<number>();
  while (drawn.size < count) drawn.add(1 + below(last));
  const ordinals = [...drawn];
  for (let start = 0; start < ordinals.length; start += ADDRESSES_AT_ONCE) {
    const rows = await db.query<{ address: string }>(
      'SELECT address FROM users WHERE ordinal = ANY($1::bigint[])',
      [ordinals.slice(start, start + ADDRESSES_AT_ONCE)],
    );
    yield rows.map(({ address }) => address);
  }
}

interface Compared {
  readonly compared: number;
  readonly different: readonly string[];
}

/** Undefined where store and node have no state in common for long enough. */
async function compare(
  db: Database,
  node: NodeReader,
  addresses: readonly string[],
): Promise<Compared | undefined> {
  const tip = await readTip(db);
  const later = await blocksAfter(tip, node);
  if (later === undefined) return undefined;
  const last = later.at(-1) ?? tip;
  const { holdings: given } = await holdingsOfAll(node, addresses);
  const isSame =
    (await node.height()) === last.height &&
    (await node.signatureAt(last.height)) === last.signature;
  if (!isSame) return undefined;
  const candidates = await concernedBy(later, tip, db);
  const stored = await storedHoldings(db, addresses, tip);
  if (stored === undefined) return undefined;
  const settled = [...stored].filter(([address]) => given.has(address) && !candidates.has(address));
  return {
    compared: settled.length,
    different: settled
      .filter(([address, holdings]) => !areEqual(holdings, given.get(address)!))
      .map(([address]) => address),
  };
}

/** Blocks of the node that the store lacks; undefined where it has others, fewer or too much. */
async function blocksAfter(tip: Tip, node: NodeReader): Promise<ChainBlock[] | undefined> {
  const ahead = (await node.height()) - tip.height;
  if (ahead < 0 || ahead > AHEAD_MAX) return undefined;
  if ((await node.signatureAt(tip.height)) !== tip.signature) return undefined;
  const later: ChainBlock[] = [];
  while (later.length < ahead) {
    const from = tip.height + 1 + later.length;
    const { blocks } = await fetchRange(node, from, tip.height + ahead);
    const isLong = blocks.some(({ further }) => further !== undefined);
    if (blocks.length === 0 || isLong) return undefined;
    later.push(...blocks);
  }
  const isNext = later[0] === undefined || later[0].reference === tip.signature;
  return isNext && areLinked(later) ? later : undefined;
}

/** Addresses whose balances these blocks may change. */
async function concernedBy(
  blocks: readonly ChainBlock[],
  tip: Tip,
  db: Database,
): Promise<ReadonlySet<string>> {
  const cursor = await readCursor(db, tip);
  const { marked, sponsored } = await prepareBatch(db, blocks, cursor, nothingKnown(cursor));
  const issuers = await db.query<{ issuer: string }>(
    'SELECT issuer FROM assets WHERE asset_id = ANY($1::text[])',
    [sponsored],
  );
  return new Set([...marked, ...issuers.map(({ issuer }) => issuer)]);
}

/** Without those that are to be asked for; undefined where the store has another tip by now. */
async function storedHoldings(
  db: Database,
  addresses: readonly string[],
  tip: Tip,
): Promise<ReadonlyMap<string, Holdings> | undefined> {
  // One statement, since a crawler may write between two.
  const rows = await db.query<{
    address: string;
    asset_id: string | null;
    amount: string;
    signature: string;
  }>(
    `SELECT u.address, b.asset_id, b.amount,
       (SELECT signature FROM blocks ORDER BY height DESC LIMIT 1) AS signature
     FROM users u LEFT JOIN balances b USING (address)
     WHERE u.address = ANY($1::text[]) AND NOT EXISTS (
       SELECT FROM balance_dirty d WHERE d.address = u.address)`,
    [addresses],
  );
  const found = new Map<string, Map<string, bigint>>();
  for (const { address, asset_id, amount, signature } of rows) {
    if (signature !== tip.signature) return undefined;
    const holdings = found.get(address) ?? new Map<string, bigint>();
    if (asset_id !== null) holdings.set(asset_id, BigInt(amount));
    found.set(address, holdings);
  }
  return found;
}

const areEqual = (one: Holdings, other: Holdings): boolean =>
  one.size === other.size && [...one].every(([asset, amount]) => other.get(asset) === amount);
