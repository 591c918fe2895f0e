/**
 * Asks the node for balances that may have changed. They do not follow from the transactions alone,
 * because fees, rewards and sponsorship change them too (data-service.md#balances).
 */
import { type Database, DatabaseError } from '../../base/database.ts';
import type { Clock, Log } from '../../base/ports.ts';
import type { Holdings } from './holdings.ts';
import { NodeAway, type NodeReader, TooMuch } from './node-reader.ts';
import { readTip } from './store-end.ts';

const ADDRESSES_AT_ONCE = 200;
const ATTEMPTS = 3;

/** A node that fails is asked for balances again after it, while the crawl goes on. */
const AGAIN_MS = 10_000;
/** The same of an address whose balances the node does not give. */
const REFUSED_AGAIN_MS = 600_000;
const REFUSED_MAX = 1000;

export interface BalanceDeps {
  readonly db: Database;
  readonly node: NodeReader;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * A function that refreshes some balances; true where it has done some and more may be left. Only a
 * failure of the store is one of the crawl: it rejects with DatabaseError.
 */
export function balanceRefresher({ db, node, clock, log }: BalanceDeps): () => Promise<boolean> {
  let pausedUntil = Number.NEGATIVE_INFINITY;
  const refused = new Map<string, number>();
  return async () => {
    const now = clock.monotonic();
    if (now < pausedUntil) return false;
    for (const [address, until] of refused) if (now >= until) refused.delete(address);
    try {
      const done = await refreshBalances(db, node, refused.keys(), (address, why) => {
        log.warn('crawl.balances-failed', { address, why });
        if (refused.size < REFUSED_MAX) refused.set(address, now + REFUSED_AGAIN_MS);
      });
      return done > 0;
    } catch (cause) {
      if (cause instanceof DatabaseError) throw cause;
      pausedUntil = now + AGAIN_MS;
      log.warn('crawl.balances-failed', {
        why: cause instanceof Error ? cause.message : String(cause),
      });
      return false;
    }
  };
}

/**
 * The number of marks that are gone; 0 where none was left, the chain kept moving, or the node is
 * behind the store. Balances of the store's height or a later one are newer than every mark.
 */
async function refreshBalances(
  db: Database,
  node: NodeReader,
  except: Iterable<string>,
  refuse: (address: string, why: string) => void,
): Promise<number> {
  const marked = await db.query<{ address: string }>(
    `SELECT address FROM balance_dirty WHERE address <> ALL($2::text[])
     ORDER BY since_height, address LIMIT $1`,
    [ADDRESSES_AT_ONCE, [...except]],
  );
  if (marked.length === 0) return 0;
  const addresses = marked.map(({ address }) => address);
  const known = await db.query<{ address: string }>(
    'SELECT address FROM users WHERE address = ANY($1::text[])',
    [addresses],
  );
  const users = known.map(({ address }) => address);
  const stored = await readTip(db);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const height = await node.height();
    if (height < stored.height) return 0;
    const before = await node.signatureAt(height);
    const { holdings, refused } = await holdingsOfAll(node, users);
    const after = (await node.height()) === height ? await node.signatureAt(height) : undefined;
    if (before === undefined || before !== after) continue;
    for (const [address, why] of refused) refuse(address, why);
    const done = addresses.filter((address) => !refused.has(address));
    return write(db, done, holdings, height);
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
 * address that an answer leaves out is asked for alone: that asks another node where one leaves it
 * out again. So no address is taken for one without balances.
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

/**
 * The number of marks that are gone: those above the height of the node stay. An address that a
 * rollback has removed keeps neither its mark nor its balances.
 */
function write(
  db: Database,
  marked: readonly string[],
  found: ReadonlyMap<string, Holdings>,
  height: number,
): Promise<number> {
  const rows = [...found].flatMap(([address, holdings]) =>
    Array.from(holdings, ([asset, amount]) => ({ address, asset, amount })),
  );
  return db.transaction(async (queries) => {
    await queries.query('DELETE FROM balances WHERE address = ANY($1::text[])', [marked]);
    await queries.query(
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
    const settled = await queries.query(
      `DELETE FROM balance_dirty WHERE address = ANY($1::text[]) AND since_height <= $2
       RETURNING address`,
      [marked, height],
    );
    return settled.length;
  });
}
