/** A list that is read while blocks are removed shows one branch, and names the tip of that one. */
import t from 'tap';
import type { Database } from '../../../src/base/ports/database.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { served } from '../served.ts';
import { postgresCluster } from '../stores.ts';
import { idsOf } from '../stream/kept-events.ts';

const cluster = await postgresCluster(t);

const LISTS = [
  '/transactions',
  '/transactions?search=slowly',
  '/blocks',
  '/assets?search=abc',
  '/users',
  '/api/v1/txData/none',
];

t.test('a reorganisation behind the tip', { skip: cluster.skip }, async (t) => {
  const chain = madeChain({ seed: 'one branch', txsPerBlock: 4, accounts: 10 });
  chain.grow(20);
  const node = await madeNode(t, () => chain);
  const url = await cluster.createDatabase();
  const watching = cluster.open(url, { poolSize: 1 });
  t.teardown(() => watching.close());
  /** Between the statement that reads the tip and the next one, as long as there are some. */
  let interruptions = 0;
  async function reorganise(): Promise<void> {
    interruptions--;
    chain.reorganise(3, 5);
    await stored(watching, chain);
  }
  const interrupted = (db: Database): Database => {
    let isNext = false;
    return {
      ...db,
      async query(sql, values, signal) {
        if (isNext) {
          isNext = false;
          await reorganise();
        }
        isNext = interruptions > 0 && sql.includes('FROM blocks ORDER BY height DESC LIMIT 1');
        return db.query(sql, values, signal);
      },
    };
  };
  const service = await served(t, node.url, async (purpose) =>
    purpose === 'read' ? interrupted(cluster.open(url)) : cluster.open(url),
  );
  await service.reached(chain.height());
  for (const path of LISTS) {
    interruptions = 1;
    const { status, headers, json } = await service.get(path);
    t.equal(interruptions, 0, path);
    t.equal(status, 200, path);
    t.equal(headers.get('x-tip-signature'), chain.signature(chain.height()), path);
    t.equal(headers.get('x-height'), String(chain.height()), path);
    if (path !== '/transactions') continue;
    const ids = idsOf(chain);
    t.ok((json as { id: string }[]).every(({ id }) => ids.includes(id)));
  }
  interruptions = 10;
  const { status } = await service.get('/transactions');
  t.equal(status, 503, 'it is not tried for ever');
  t.ok(interruptions > 0);
  interruptions = 0;
});

async function stored(db: Database, chain: MadeChain): Promise<void> {
  const tip = chain.signature(chain.height());
  for (let isStored = false; !isStored; ) {
    const sql = 'SELECT FROM blocks WHERE signature = $1';
    isStored = (await db.query(sql, [tip])).length > 0;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
