// A block may change a hundred thousand rows, as the results of three contracts do.
import t from 'tap';
import { Writer } from '../../../src/codec/codec.ts';
import { encodeRows } from '../../../src/ledger/commit/encode-rows.ts';
import { createCommittedView } from '../../../src/ledger/committed-view.ts';
import { createOverlay } from '../../../src/ledger/overlay.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';
import { plain, scheme } from '../tables.ts';
import { tickingSlice } from './ticking-slice.ts';

const COUNT = 1000;

t.test('rows are collected in slices', async (t) => {
  const overlay = createOverlay(createCommittedView(createMemoryStore(), scheme));
  for (let i = 0; i < COUNT; i++) overlay.set(plain, Uint8Array.of(i >> 8, i), i & 1);
  const { slice, onTurn } = tickingSlice();
  let atOnce = 0;
  let most = 0;
  onTurn(() => {
    atOnce = 0;
  });
  const counted = {
    ...overlay,
    *changes() {
      for (const row of overlay.changes()) {
        most = Math.max(most, ++atOnce);
        yield row;
      }
    },
  };
  t.equal((await encodeRows(counted, new Writer(scheme), slice)).length, COUNT);
  t.ok(most < 10, `${most} rows in one turn`);
});
