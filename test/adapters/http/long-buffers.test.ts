// Memory for long bodies: used again, bounded in all, given back when nobody needs it.
import t from 'tap';
import { LongBuffers } from '../../../src/adapters/http/long-buffers.ts';

t.test('a buffer is used again, the longest first', async (t) => {
  const buffers = new LongBuffers(100);
  t.teardown(() => buffers.close());
  const [a, b] = [buffers.take(10), buffers.take(30)];
  buffers.giveBack(b);
  buffers.giveBack(a);
  t.equal(buffers.take(5), b);
  t.equal(b.byteLength, 30);
  t.equal(buffers.take(20), a, 'it grows in place');
  t.equal(a.byteLength, 20);
});

t.test('unused buffers make room for those that grow', async (t) => {
  const buffers = new LongBuffers(100);
  t.teardown(() => buffers.close());
  const [a, b, c] = [buffers.take(40), buffers.take(30), buffers.take(20)];
  buffers.giveBack(b);
  buffers.giveBack(c);
  buffers.grow(a, 60);
  t.strictSame(
    [a, b, c].map(({ byteLength }) => byteLength),
    [60, 30, 0],
  );
  buffers.close();
  t.equal(b.byteLength, 0);
  t.equal(a.byteLength, 60, 'one in use stays');
});
