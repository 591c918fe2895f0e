/** A store inside the process leaves the processor to its node until that has made a block. */
import t from 'tap';
import type { Database } from '../../src/base/ports/database.ts';
import { madeChain } from './made-chain.ts';
import { madeNode } from './made-node.ts';
import { served } from './served.ts';
import { memoryDatabase } from './stores.ts';

const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

t.test('the store is opened after the first block', async (t) => {
  const chain = madeChain({ seed: 'first', txsPerBlock: 1, accounts: 5 });
  const node = await madeNode(t, () => chain);
  let opened = 0;
  const open = () => {
    opened++;
    return memoryDatabase();
  };
  const service = await served(t, node.url, open, { afterFirstBlock: true });
  while (node.requests() < 4) await later();
  t.equal(opened, 0, 'the genesis block is none of its own');
  const preparing = { message: 'The search is being prepared' };
  t.match(await service.get('/transactions'), { status: 503, json: preparing });
  chain.grow(1);
  await service.reached(2);
  t.equal(opened, 1);
});

t.test('a service is stopped before the first block', async (t) => {
  const chain = madeChain({ seed: 'stopped', txsPerBlock: 1, accounts: 5 });
  const node = await madeNode(t, () => chain);
  const never = () => Promise.reject(new Error('it is not to be opened'));
  const { service } = await served(t, node.url, never, { afterFirstBlock: true });
  while (node.requests() < 2) await later();
  await service.stop();
  await service.ended;
});

t.test('a node that does not answer is not waited for', async (t) => {
  const chain = madeChain({ seed: 'absent', txsPerBlock: 1, accounts: 5 });
  const node = await madeNode(t, () => chain);
  await node.close();
  let opened = 0;
  const open = () => {
    opened++;
    return memoryDatabase();
  };
  const { service } = await served(t, node.url, open, { afterFirstBlock: true });
  while (opened === 0 && service.state.nodeErrors < 3) await later();
  t.equal(opened, 1, 'the store answers from what it has');
});

t.test(
  'a service that stops while it looks for a block does not say that it answers',
  async (t) => {
    const chain = madeChain({ seed: 'looking', txsPerBlock: 1, accounts: 5 });
    const node = await madeNode(t, () => chain);
    const looked = Promise.withResolvers<void>();
    const told = Promise.withResolvers<void>();
    const open = async (): Promise<Database> => {
      const db = await memoryDatabase();
      const query: Database['query'] = async <R extends object>(sql: string) => {
        const rows = await db.query<R>(sql);
        if (rows.length > 0) {
          looked.resolve();
          await told.promise;
        }
        return rows;
      };
      return { ...db, reading: { ...db, query } };
    };
    const { service } = await served(t, node.url, open);
    await looked.promise;
    let isAnswering = false;
    void service.answering.then(() => {
      isAnswering = true;
    });
    await service.stop();
    told.resolve();
    for (let turns = 0; turns < 5; turns++) await later();
    t.notOk(isAnswering);
  },
);
