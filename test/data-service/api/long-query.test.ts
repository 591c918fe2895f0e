/** A question that keeps PGlite busy stops neither the interface, nor the crawler, nor streams. */
import t from 'tap';
import { pgliteDatabase } from '../../../src/adapters/database/pglite.ts';
import { temporaryFolder } from '../../system/e2e/dev-node.ts';
import { migratedFolder } from '../initial-cluster.ts';
import { madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { served } from '../served.ts';
import { slowly } from '../slowly.ts';
import { eventClient } from '../stream/event-client.ts';
import { idsOf, kept } from '../stream/kept-events.ts';

t.test('a question that takes longer than it may', { timeout: 110_000 }, async (t) => {
  const chain = madeChain({ seed: 'long query', txsPerBlock: 3, accounts: 10 });
  chain.grow(5);
  const node = await madeNode(t, () => chain);
  const folder = await migratedFolder(temporaryFolder(t));
  const begun = Promise.withResolvers<void>();
  const service = await served(t, node.url, async () => {
    const db = await pgliteDatabase(folder, { statementMs: 3000 });
    return { ...db, reading: slowly(db.reading!, begun.resolve) };
  });
  await service.reached(chain.height());
  const start = chain.height();
  const follower = await eventClient(t, `${service.url}/transactions/stream`);

  const answered: string[] = [];
  const ask = async (path: string): Promise<number> => {
    const { status } = await service.get(path);
    answered.push(path);
    return status;
  };
  const [long, live, ofNode] = [
    '/transactions/count?search=slowly&scope=in_description',
    '/health/live',
    '/node-api/blocks/height',
  ] as const;
  const asked = ask(long);
  await begun.promise;
  chain.grow(3);
  t.equal(await ask(live), 200);
  t.equal(await ask(ofNode), 200);
  t.equal(await asked, 504);
  t.strictSame(answered, [live, ofNode, long], 'the interface answers meanwhile');

  await service.reached(chain.height());
  const wanted = idsOf(chain, start);
  await follower.until((events) => kept(events).at(-1) === wanted.at(-1));
  t.strictSame(kept(follower.events), wanted, 'crawler and streams go on with another thread');
});
