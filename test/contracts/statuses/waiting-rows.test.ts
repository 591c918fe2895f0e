import t from 'tap';
import { AssertionError } from '../../../src/base/assert.ts';
import { createWaitingRows } from '../../../src/contracts/statuses/waiting-rows.ts';
import { quiet } from '../../chain/chain-harness.ts';

type Rows = ReadonlyMap<string, Uint8Array | undefined>;

t.test('what fails to be written waits again, and newer values stay', async (t) => {
  const written: Rows[] = [];
  let isFull = true;
  const rows = createWaitingRows({
    async write(all) {
      if (isFull) throw new Error('no space left on device');
      written.push(all);
    },
    log: quiet,
  });
  rows.set('a', Uint8Array.of(1));
  rows.set('b', Uint8Array.of(2));
  const failed = rows.flush();
  await Promise.resolve();
  t.same(rows.get('a'), Uint8Array.of(1), 'known while it is being written');
  rows.set('a', Uint8Array.of(3));
  await failed;
  t.same(rows.get('b'), Uint8Array.of(2));
  isFull = false;
  rows.set('b', undefined);
  await rows.flush();
  t.same(
    [...written[0]!],
    [
      ['a', Uint8Array.of(3)],
      ['b', undefined],
    ],
  );
  t.equal(rows.get('a'), undefined, 'it is on the disk');
  await rows.flush();
  t.equal(written.length, 1, 'nothing waits, nothing is written');
});

t.test('bytes and rows that wait are limited, and removed rows take none', async (t) => {
  const rows = createWaitingRows({ write: async () => undefined, log: quiet });
  const large = new Uint8Array(8 * 1024 * 1024);
  rows.set('a', large.subarray(1));
  t.notOk(rows.isFull());
  rows.set('b', Uint8Array.of(1));
  t.ok(rows.isFull());
  rows.set('a', undefined);
  t.notOk(rows.isFull());
  for (let i = 0; i < 1998; i++) rows.set(`row ${i}`, Uint8Array.of(1));
  t.ok(rows.isDue());
  await rows.flush();
  t.notOk(rows.isDue());
});

t.test('an assertion that fails is not caught', async (t) => {
  const write = () => Promise.reject(new AssertionError('a row is wrong'));
  const rows = createWaitingRows({ write, log: quiet });
  rows.set('a', Uint8Array.of(1));
  await t.rejects(rows.flush(), { message: 'a row is wrong' });
});
