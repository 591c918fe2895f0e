// Texts and bytes that give way to later ones: what is found is what was kept, or nothing.
import t from 'tap';
import { ByteRing, type Span } from '../../src/events/byte-ring.ts';
import { PageWriter } from '../../src/events/page-writer.ts';

const SIZE = 8192;
const bytesOf = (text: string) => Buffer.from(text);
const textOf = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();

t.test('what is kept', async (t) => {
  const ring = new ByteRing(SIZE);
  const nothing = ring.keep(new Uint8Array(0))!;
  t.equal(textOf(ring.get(nothing)), '');
  const one = ring.keep(bytesOf('one'))!;
  const two = ring.keep(bytesOf('two'))!;
  t.equal(textOf(ring.get(one)), 'one');
  t.equal(textOf(ring.get(two)), 'two');
});

t.test('what is too long is not kept', async (t) => {
  const ring = new ByteRing(SIZE);
  t.equal(ring.keep(new Uint8Array(SIZE / 2 + 1)), undefined);
  t.ok(ring.keep(new Uint8Array(SIZE / 2)));
});

t.test('any texts in any order', async (t) => {
  const ring = new ByteRing(SIZE);
  const all: { readonly span: Span; readonly text: string }[] = [];
  let found = 0;
  let wrong = 0;
  for (let n = 0; n < 1000; n++) {
    const text = `${n} ${'яz'.repeat((n * 7919) % 140)}`;
    const span = ring.keep(bytesOf(text))!;
    all.push({ span, text });
    if (!ring.has(span)) t.fail('the last one is there');
    for (const one of all.slice(-60)) {
      const bytes = ring.get(one.span);
      if (ring.has(one.span) !== (bytes !== undefined)) wrong++;
      if (bytes === undefined) continue;
      found++;
      if (textOf(bytes) !== one.text) wrong++;
    }
  }
  t.equal(wrong, 0);
  t.ok(found > 1000 * 15, 'the ring is well used');
  t.notOk(ring.has(all[0]!.span));
});

t.test('memory that was given back has nothing of before', async (t) => {
  const ring = new ByteRing(SIZE);
  const before = ring.keep(bytesOf('before'))!;
  ring.clear();
  t.equal(ring.get(before), undefined);
  const after = ring.keep(bytesOf('after'))!;
  t.equal(ring.get(before), undefined);
  t.equal(textOf(ring.get(after)), 'after');
});

t.test('a page grows as it must, and one follows the other', async (t) => {
  const page = new PageWriter();
  const long = 'ф'.repeat(1024 * 1024);
  page.text('a');
  page.bytes(bytesOf('kept'));
  page.text(long);
  t.equal(textOf(page.written()), `akept${long}`);
  t.equal(textOf(page.written(5)), long);
  t.equal(page.length, 5 + 2 * long.length);
  page.clear();
  page.text('b');
  t.equal(textOf(page.written()), 'b');
});
