/** What a crawler tells about its failures, and when they are over. */
import t, { type Test } from 'tap';
import { type Database, DatabaseError } from '../../../src/base/ports/database.ts';
import { beginFirstLoad } from '../../../src/data-service/crawler/first-load.ts';
import { indexesOf } from '../../../src/data-service/schema/migrate.ts';
import { crawl, OPTIONS } from '../crawling.ts';
import { madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { migratedDatabase } from '../stores.ts';

const later = () => new Promise((next) => setTimeout(next, 20));
const AWAY = 'http://127.0.0.1:1';

async function stored(t: Test): Promise<Database> {
  const db = await migratedDatabase();
  t.teardown(() => db.close());
  return db;
}

t.test('a crawler that waits for another one does not fail', async (t) => {
  const db = await stored(t);
  const chain = madeChain({ seed: 'waits', txsPerBlock: 1, accounts: 5 });
  const node = await madeNode(t, () => chain);
  let asked = 0;
  let isAway = true;
  const lock = async (): Promise<undefined> => {
    asked++;
    if (isAway) throw new DatabaseError('away', new Error('the database is away'));
  };
  const { state } = crawl(t, { ...db, lock }, [node.url], { wait: true });
  while (!state.failing) await later();
  t.match(state.lastError, /the database is away/);
  isAway = false;
  for (const before = asked; asked < before + 2; ) await later();
  t.equal(state.failing, false, 'the database answers again, and another crawler has the lock');
  t.equal(state.lastError, undefined);
});

t.test('a failure is over once blocks are written', async (t) => {
  const db = await stored(t);
  const chain = madeChain({ seed: 'over', txsPerBlock: 1, accounts: 5 });
  chain.grow(60);
  let isDown = true;
  const down = { status: 502, type: 'application/json', body: '{}' };
  const { promise: hung, resolve: release } = Promise.withResolvers<void>();
  t.teardown(() => release());
  const node = await madeNode(t, () => chain, {
    instead: () => (isDown ? down : undefined),
    // The end of the range does not come.
    delay: async (path) => (/seqext\/(4|5|6)\d/.test(path) ? hung : undefined),
  });
  const { state } = crawl(t, db, [node.url], { batchBlocks: 10, concurrency: 1 });
  while (!state.failing) await later();
  isDown = false;
  while (state.height < 10) await later();
  t.equal(state.failing, false, 'while the same range is crawled');
  t.equal(state.lastError, undefined);
  release();
});

t.test('an index that cannot be built stays a failure while it is tried again', async (t) => {
  const db = await stored(t);
  const chain = madeChain({ seed: 'index', txsPerBlock: 1, accounts: 5 });
  chain.grow(3);
  const node = await madeNode(t, () => chain);
  await beginFirstLoad(db, OPTIONS);
  const last = Object.keys(indexesOf(OPTIONS)).at(-1)!;
  const seen: unknown[] = [];
  const exec = async (sql: string): Promise<void> => {
    if (!(sql.startsWith('CREATE') && sql.includes(`INDEX ${last} `))) return db.exec(sql);
    seen.push([state.failing, state.step]);
    throw new DatabaseError('full', new Error('no space left'));
  };
  const { state } = crawl(t, { ...db, exec }, [node.url]);
  while (seen.length < 3) await later();
  const step = `building index ${last}`;
  t.strictSame(seen.slice(0, 3), [
    [false, step],
    [true, step],
    [true, step],
  ]);
  while (state.step !== undefined) await later();
  t.ok(state.bulk);
});

t.test('the age of a stored block is known while the node is away', async (t) => {
  const db = await stored(t);
  const chain = madeChain({ seed: 'age', txsPerBlock: 1, accounts: 5 });
  chain.grow(3);
  const node = await madeNode(t, () => chain);
  const first = crawl(t, db, [node.url]);
  await first.reached(4, chain.signature(4));
  await first.stop();
  const { state } = crawl(t, db, [AWAY]);
  while (!state.failing) await later();
  t.equal(state.height, 4);
  t.equal(state.lastBlock, first.state.lastBlock, 'also after a restart');
  t.ok(state.lastBlock > 0);
});
