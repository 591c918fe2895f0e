/**
 * Asks the node for balances that may have changed. They do not follow from the transactions alone,
 * because fees, rewards and sponsorship change them too (data-service.md#balances).
 */

import type { Database, Queries } from '../../../base/ports/database.ts';
import type { Holdings } from '../holdings.ts';
import { NodeAway, type NodeReader, TooMuch } from '../node-reader.ts';
import { assertEnd, lockedEnd, readTip, type Tip } from '../store-end.ts';
import { aheadOf, hasReached, settle, settleRead } from './balance-marks.ts';
import { type BesideCrawl, besideCrawl, type Pass, type RefreshDeps } from './beside-crawl.ts';

const ADDRESSES_AT_ONCE = 200;
const ATTEMPTS = 3;

/** An address whose balances no node gives is asked for again after it. */
const REFUSED_AGAIN_MS = 600_000;
const REFUSED_MAX = 1000;

/** A function that refreshes some balances. */
export function balanceRefresher({ db, clock, log }: RefreshDeps): BesideCrawl {
  /** Addresses that nodes did not give, until they are forgotten. */
  const refused = new Map<string, { readonly times: number; readonly until: number }>();
  const refresh: BesideCrawl = async (pass) => {
    const now = clock.monotonic();
    for (const [address, { until }] of refused) if (now >= until) refused.delete(address);
    const byAll = [...refused].filter(([, { times }]) => times >= pass.nodes);
    const except = byAll.map(([address]) => address);
    const done = await refreshBalances(db, pass, except, (address, why) => {
      log.warn('crawl.balances-failed', { address, why });
      const { times } = refused.get(address) ?? { times: 0 };
      if (times === 0 && refused.size >= REFUSED_MAX) return;
      refused.set(address, { times: times + 1, until: now + REFUSED_AGAIN_MS });
    });
    return done > 0;
  };
  return besideCrawl(refresh, clock, (why) => log.warn('crawl.balances-failed', { why }));
}

/** What the store asks for. */
interface Wanted {
  readonly stored: Tip;
  /** Marked addresses whose balances are to be read. */
  readonly addresses: readonly string[];
  /** Those of them that the store knows. */
  readonly users: readonly string[];
  /** The last block above the stored ones at which balances were read. */
  readonly ahead: Tip | undefined;
}

/** Undefined where nothing is to be asked for. */
async function wantedOf(db: Database, except: readonly string[]): Promise<Wanted | undefined> {
  const marked = await db.query<{ address: string }>(
    `SELECT address FROM balance_dirty WHERE since_height >= 0 AND address <> ALL($2::text[])
     ORDER BY since_height, address LIMIT $1`,
    [ADDRESSES_AT_ONCE, except],
  );
  const ahead = await aheadOf(db);
  const stored = await readTip(db);
  if (marked.length === 0 && (ahead === undefined || !(await hasReached(db, ahead, stored)))) {
    return undefined;
  }
  const addresses = marked.map(({ address }) => address);
  const known = await db.query<{ address: string }>(
    'SELECT address FROM users WHERE address = ANY($1::text[])',
    [addresses],
  );
  return { stored, addresses, users: known.map(({ address }) => address), ahead };
}

/**
 * The number of marks that are settled or read; 0 where none was left, the chain kept moving, or the
 * node lacks the last stored block or is lower than one at which balances were read. Throws
 * NotContinuous where the store has another end by now, and so perhaps later marks.
 */
async function refreshBalances(
  db: Database,
  { node, assertLocked }: Pass,
  except: readonly string[],
  refuse: (address: string, why: string) => void,
): Promise<number> {
  const wanted = await wantedOf(db, except);
  if (wanted === undefined) return 0;
  const { stored, addresses, users, ahead } = wanted;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const height = await node.height();
    if (height < Math.max(stored.height, ahead?.height ?? 0)) return 0;
    const before = await node.signatureAt(height);
    if ((await node.signatureAt(stored.height)) !== stored.signature) return 0;
    const isKept = ahead && (await node.signatureAt(ahead.height)) === ahead.signature;
    const { holdings, refused } = await holdingsOfAll(node, users);
    const after = (await node.height()) === height ? await node.signatureAt(height) : undefined;
    if (before === undefined || before !== after) continue;
    for (const [address, why] of refused) refuse(address, why);
    const done = addresses.filter((address) => !refused.has(address));
    assertLocked();
    return db.transaction(async (queries) => {
      assertEnd(await lockedEnd(queries), stored);
      if (ahead !== undefined) await settle(queries, { ahead, isKept: isKept === true, stored });
      await write(queries, done, holdings, height);
      return settleRead(queries, { addresses: done, users }, { height, signature: before }, stored);
    });
  }
  return 0;
}

interface Given {
  readonly holdings: Map<string, Holdings>;
  /** Address → why. */
  readonly refused: Map<string, string>;
}

/**
 * Halves a list that is too long for one answer, down to one address, which comes in pages. An
 * address that an answer leaves out is asked for alone, and of another node in the next pass where
 * one leaves it out again. So no address is taken for one without balances.
 */
export async function holdingsOfAll(
  node: NodeReader,
  addresses: readonly string[],
): Promise<Given> {
  const given: Given = { holdings: new Map(), refused: new Map() };
  const waiting = addresses.length === 0 ? [] : [addresses];
  for (let list = waiting.pop(); list !== undefined; list = waiting.pop()) {
    try {
      const found = await node.holdings(list);
      for (const address of list) {
        const held = found.get(address);
        if (held === undefined) await addInPages(node, address, given);
        else given.holdings.set(address, held);
      }
    } catch (cause) {
      if (!(cause instanceof TooMuch)) throw cause;
      const [first = '', ...others] = list;
      if (others.length === 0) await addInPages(node, first, given);
      else {
        const middle = Math.ceil(list.length / 2);
        waiting.push(list.slice(middle), list.slice(0, middle));
      }
    }
  }
  return given;
}

async function addInPages(node: NodeReader, address: string, { holdings, refused }: Given) {
  try {
    holdings.set(address, await node.holdingsInParts(address));
  } catch (cause) {
    if (!(cause instanceof NodeAway)) throw cause;
    refused.set(address, cause.message);
  }
}

/** An address that a rollback has removed keeps no balances. */
async function write(
  db: Queries,
  marked: readonly string[],
  found: ReadonlyMap<string, Holdings>,
  height: number,
): Promise<void> {
  if (marked.length === 0) return;
  const rows = [...found].flatMap(([address, holdings]) =>
    Array.from(holdings, ([asset, amount]) => ({ address, asset, amount })),
  );
  await db.query('DELETE FROM balances WHERE address = ANY($1::text[])', [marked]);
  await db.query(
    `INSERT INTO balances SELECT address, asset, amount, $4::int
     FROM unnest($1::text[], $2::text[], $3::bigint[]) AS held(address, asset, amount)
     ON CONFLICT (address, asset_id) DO UPDATE
     SET amount = excluded.amount, height = excluded.height`,
    [
      rows.map(({ address }) => address),
      rows.map(({ asset }) => asset),
      rows.map(({ amount }) => amount),
      height,
    ],
  );
}
