import t from 'tap';
import { latin1 } from '../../../src/base/bytes.ts';
import { PORTION_BYTES } from '../../../src/mempool/journal/journal-portions.ts';
import { isOrderRecord, orderIn, orderRecords } from '../../../src/mempool/journal/return-order.ts';
import { allTypes } from '../../../src/tx/registry.ts';

/** An id, as Latin-1 text. */
function key(number: number): string {
  const id = new Uint8Array(32).fill(0xff);
  new DataView(id.buffer).setUint32(28, number);
  return latin1(id);
}

t.test('the order of many ids is read back from records that fit into a portion', async (t) => {
  const keys = Array.from({ length: 40_000 }, (_, i) => key(i));
  const records = orderRecords(keys);
  t.equal(records.length, 3);
  for (const record of records) t.ok(record.length <= PORTION_BYTES);
  t.strictSame([...orderIn(records)], keys);
  t.strictSame(orderRecords([]), []);
});

t.test('what a later record names comes first', async (t) => {
  const [a, b, c, d] = [1, 2, 3, 4].map(key) as [string, string, string, string];
  const transaction = Uint8Array.of(4, 2, 1);
  const records = [transaction, ...orderRecords([c, b]), ...orderRecords([a, b]), transaction];
  t.strictSame([...new Set(orderIn([...records, ...orderRecords([d])]))], [d, a, b, c]);
});

t.test('a record of another version, or with a part of an id, gives no order', async (t) => {
  const [record] = orderRecords([key(1), key(2)]);
  t.strictSame([...orderIn([record!.subarray(0, -1)])], [key(1)]);
  t.strictSame([...orderIn([record!.subarray(0, 1)])], []);
  record![1] = 2;
  t.strictSame([...orderIn([record!])], []);
});

t.test('no transaction looks like one', async (t) => {
  const [record] = orderRecords([key(1)]);
  t.ok(isOrderRecord(record!));
  t.notOk(allTypes.some(({ type }) => type === record![0]));
  t.notOk(isOrderRecord(Uint8Array.of(0, 4, 2)));
});
