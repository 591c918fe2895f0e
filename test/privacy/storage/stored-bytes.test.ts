// How many bytes are stored, where the storage does not answer.
import t from 'tap';
import { AssertionError } from '../../../src/base/assert.ts';
import { ITEM_BYTES_MIN, inAll, StoredBytes } from '../../../src/privacy/storage/stored-bytes.ts';
import { quiet, scheme } from '../../chain/chain-harness.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';

const bytesOf = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);
const item = { policyId: bytesOf(32, 1), hash: bytesOf(32, 2) };
const counted = { ...item, creator: bytesOf(26, 3), sender: bytesOf(26, 4) };

t.test('an item counts on while nobody knows whether it is gone', async (t) => {
  const stored = new StoredBytes({ rows: createMemoryStore(), scheme, log: quiet });
  await stored.add(counted, ITEM_BYTES_MIN);
  const unknown = stored.subtract(item, () => Promise.reject(new Error('no answer')));
  const later = stored.subtract(item, async () => true);
  await t.rejects(unknown, { message: 'no answer' });
  await later;
  t.equal(stored.stored(inAll), 0, 'and the next one is asked');
});

t.test('an assertion that fails is not caught', async (t) => {
  const rows = createMemoryStore();
  const broken = { ...rows, write: () => Promise.reject(new AssertionError('the sums are wrong')) };
  const stored = new StoredBytes({ rows: broken, scheme, log: quiet });
  await t.rejects(stored.add(counted, ITEM_BYTES_MIN), { message: 'the sums are wrong' });
});
