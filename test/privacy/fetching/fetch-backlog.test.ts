import t from 'tap';
import { AssertionError } from '../../../src/base/assert.ts';
import { Backlog } from '../../../src/privacy/fetching/fetch-backlog.ts';
import { quiet, testClock } from '../../chain/chain-harness.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';

const item = { policyId: new Uint8Array(32), hash: new Uint8Array(32) };

t.test('an assertion that fails is not caught, and anything else is tried again', async (t) => {
  let failure: Error | undefined = new Error('no space left on device');
  const store = createMemoryStore();
  const write: typeof store.write = async (writes) => {
    if (failure !== undefined) throw failure;
    await store.write(writes);
  };
  const clock = testClock(0);
  const backlog = new Backlog({ store: { ...store, write }, clock, log: quiet });
  backlog.set(item, 'pending');
  await backlog.flush();
  t.equal(backlog.stateOf(item), 'pending');
  failure = undefined;
  await backlog.flush();
  t.equal(backlog.list('pending', new Uint8Array(64), 10).length, 1);
  failure = new AssertionError('a row is wrong');
  backlog.set(item, undefined);
  await t.rejects(backlog.flush(), failure);
});
