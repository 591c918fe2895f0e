import t from 'tap';
import { createEntryBytes } from '../../../src/mempool/entries/entry-bytes.ts';

t.test('copies share small blocks of memory and nothing else', async (t) => {
  const copied = createEntryBytes();
  const sizes = [156, 156, 1, 512, 513, 300, 100_000, 1700, 511, 511, 511, 511, 1];
  const originals = sizes.map((size, i) => new Uint8Array(size).fill(i + 1));
  const copies = originals.map((bytes) => copied(bytes));
  t.same(copies, originals);
  for (const original of originals) original.fill(0);
  for (const [i, copy] of copies.entries()) t.ok(copy.every((byte) => byte === i + 1));
  const inBlocks = copies.filter((copy) => copy.length !== copy.buffer.byteLength);
  t.ok(inBlocks.every(({ buffer }) => buffer.byteLength === 2048));
  t.equal(new Set(inBlocks.map(({ buffer }) => buffer)).size, 2);
  t.same(
    copies.filter((copy) => !inBlocks.includes(copy)).map(({ length }) => length),
    [513, 100_000, 1700],
    'long ones have memory of their own',
  );
});
