// The filter of ids that an import has seen.
import { createHash } from 'node:crypto';
import t from 'tap';
import { IdFilter } from '../../../src/chain/import/id-filter.ts';
import { ID_PREFIX_BYTES } from '../../../src/chain/store/block-index.ts';

const idOf = (n: number): Uint8Array =>
  new Uint8Array(createHash('sha256').update(String(n)).digest());

t.test('a filter knows every id that was added, and few others', (t) => {
  const filter = new IdFilter();
  const count = 20_000;
  for (let n = 0; n < count; n++) filter.add(idOf(n));
  let missing = 0;
  let wrong = 0;
  for (let n = 0; n < count; n++) {
    if (!filter.mayHave(idOf(n))) missing++;
    if (filter.mayHave(idOf(count + n))) wrong++;
  }
  t.equal(missing, 0);
  t.ok(wrong < count / 1000, `${wrong} of ${count}`);
  t.end();
});

t.test('ids of the same beginning are one, as in the index', (t) => {
  const filter = new IdFilter();
  const id = idOf(1);
  filter.add(id);
  t.ok(filter.mayHave(id.map((byte, at) => (at < ID_PREFIX_BYTES ? byte : byte ^ 0xff))));
  t.end();
});
