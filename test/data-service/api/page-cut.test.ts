/** A page that is cut in the store (data-service.md#queries): rows beyond the bound are not looked at. */
import t from 'tap';
import { cutPage } from '../../../src/data-service/api/page-cut.ts';
import { onBothStores } from '../stores.ts';

/** Nobody can tell the bytes of the row with this ordinal. */
const UNREADABLE = 4;

await onBothStores(t, 'no row after the one that reaches the bound is read', async (t, open) => {
  const db = await open();
  const cut = cutPage({
    seqs: '(SELECT generate_series(1, 10) AS seq)',
    sort: 'asc',
    limit: 10,
    bytesMax: 900,
    // 333, 500 and 1000 bytes, then a division by zero.
    bytesOf: (seq) => `(1000 / (${UNREADABLE} - ${seq}))`,
  });
  t.strictSame(await db.query(`SELECT n, seq, is_shown FROM ${cut} cut ORDER BY n`), [
    { n: 1, seq: 1, is_shown: true },
    { n: 2, seq: 2, is_shown: true },
    { n: 3, seq: 3, is_shown: true },
    { n: 4, seq: UNREADABLE, is_shown: false },
  ]);
});
