import t from 'tap';
import { OTHER_PROOFS_BYTES_MAX, OtherProofs } from '../../../src/mempool/reorg/other-proofs.ts';

t.test('the bytes are bounded, and the oldest are forgotten first', async (t) => {
  const known = new OtherProofs();
  const bytes = new Uint8Array(OTHER_PROOFS_BYTES_MAX / 4).fill(1);
  for (const key of ['a', 'b', 'c', 'd', 'a']) known.note(key, bytes);
  bytes.fill(2);
  t.equal(known.get('a')?.[0], 1, 'a copy');
  known.note('e', bytes);
  t.equal(known.get('b'), undefined);
  for (const key of ['c', 'd', 'a', 'e']) t.ok(known.get(key), key);
  known.forget('e');
  known.note('f', bytes);
  t.ok(known.get('c'), 'there is room again');
});
