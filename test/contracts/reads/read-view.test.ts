import t from 'tap';
import { createChangeLog } from '../../../src/contracts/reads/change-log.ts';
import { READ_LIMITS } from '../../../src/contracts/reads/read-budget.ts';
import { createReadView } from '../../../src/contracts/reads/read-view.ts';
import { createCommittedView } from '../../../src/ledger/committed-view.ts';
import { contractEntries, contractEntry, putContractEntry } from '../../../src/ledger/contracts.ts';
import { createOverlay } from '../../../src/ledger/overlay.ts';
import { scheme } from '../../chain/chain-harness.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';

const [one, two] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
const integer = (value: bigint) => ({ type: 'integer', value }) as const;

function opened(limits = READ_LIMITS) {
  const overlay = createOverlay(createCommittedView(createMemoryStore(), scheme));
  const changes = createChangeLog();
  const put = (id: Uint8Array, key: string, value: bigint): void => {
    const mark = overlay.mark();
    putContractEntry(overlay, id, key, integer(value));
    changes.add(overlay.since(mark));
  };
  return { put, read: () => createReadView(overlay, changes, limits) };
}

t.test('a row that changes after it was read makes the reading stale', async (t) => {
  const { put, read } = opened();
  put(one, 'a', 1n);
  const reading = read();
  put(one, 'a', 2n);
  t.match(contractEntry(reading.view, one, 'a'), { value: 2n });
  t.equal(reading.isStale(), false, 'it changed before');
  put(one, 'b', 1n);
  put(two, 'a', 1n);
  t.equal(reading.isStale(), false, 'other rows');
  put(one, 'a', 3n);
  t.equal(reading.isStale(), true);
});

t.test('so does a row that was looked for and was not there, and one in a range', async (t) => {
  const { put, read } = opened();
  const absent = read();
  t.equal(contractEntry(absent.view, one, 'a'), undefined);
  const range = read();
  t.same([...contractEntries(range.view, one, 10)], []);
  put(two, 'a', 1n);
  t.same([absent.isStale(), range.isStale()], [false, false]);
  put(one, 'a', 1n);
  t.same([absent.isStale(), range.isStale()], [true, true]);
});

t.test('rows and bytes are limited, and a closed view reads nothing', async (t) => {
  const { put, read } = opened({ rows: 5, bytes: 10_000, ranges: 9 });
  for (let i = 0; i < 9; i++) put(one, `key ${i}`, 1n);
  const { view, close } = read();
  t.equal([...contractEntries(view, one, 4)].length, 4);
  contractEntry(view, one, 'key 1');
  t.throws(() => contractEntry(view, one, 'none'), {
    code: 413,
    message: /at most 5 rows/,
  });
  t.throws(() => [...contractEntries(read().view, one, 9)], { code: 413 });
  close();
  t.throws(() => contractEntry(view, one, 'key 1'), { code: 622 });
  t.throws(() => [...contractEntries(view, two, 1)], { code: 622 }, 'nor a range without rows');
  const ending = read();
  const begun = contractEntries(ending.view, one, 4)[Symbol.iterator]();
  begun.next();
  ending.close();
  t.throws(() => begun.next(), { code: 622 }, 'a range that has begun ends too');
  const small = createReadView(view, createChangeLog(), { rows: 9, bytes: 30, ranges: 9 });
  t.throws(() => contractEntry(small.view, one, 'key 1'), Error);
});

t.test('a range without rows costs one, and there are so many ranges', async (t) => {
  const { read } = opened({ rows: 5, bytes: 10_000, ranges: 3 });
  const empty = read();
  for (let i = 0; i < 5; i++) t.same([...contractEntries(empty.view, one, 10)], []);
  t.throws(() => [...contractEntries(empty.view, one, 10)], { message: /at most 5 rows/ });
  const many = read();
  for (let i = 0; i < 3; i++) {
    t.same([...contractEntries(many.view, new Uint8Array(32).fill(2 * i), 10)], []);
  }
  t.throws(() => [...contractEntries(many.view, new Uint8Array(32).fill(9), 10)], {
    code: 413,
    message: /at most 3 ranges/,
  });
});
