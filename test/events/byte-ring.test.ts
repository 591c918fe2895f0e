// Texts and bytes that give way to later ones: what is found is what was kept, or nothing.
import t from 'tap';
import { ByteRing, type Span } from '../../src/events/byte-ring.ts';
import { PageWriter } from '../../src/events/page-writer.ts';

const SIZE = 8192;
const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();

t.test('what is kept', async (t) => {
  const ring = new ByteRing(SIZE);
  const one = ring.keepText('ф 1')!;
  const two = ring.keep(Buffer.from('two'))!;
  t.equal(text(ring.get(one)), 'ф 1');
  t.equal(text(ring.get(two)), 'two');
  const target = new Uint8Array(5);
  t.ok(ring.copy(two, target, 1));
  t.strictSame([...target], [0, ...Buffer.from('two'), 0]);
});

t.test('what is too long is not kept', async (t) => {
  const ring = new ByteRing(SIZE);
  t.equal(ring.keepText('x'.repeat(SIZE / 8)), undefined, 'each might have three bytes');
  t.equal(ring.keep(new Uint8Array(SIZE / 8 + 1)), undefined);
  t.ok(ring.keep(new Uint8Array(SIZE / 8)));
});

t.test('any texts in any order', async (t) => {
  const ring = new ByteRing(SIZE);
  const all: { readonly span: Span; readonly text: string }[] = [];
  let found = 0;
  let wrong = 0;
  for (let n = 0; n < 1000; n++) {
    const text = `${n} ${'яz'.repeat((n * 7919) % 140)}`;
    const span = n % 2 === 0 ? ring.keepText(text)! : ring.keep(Buffer.from(text))!;
    all.push({ span, text });
    if (!ring.has(span)) t.fail('the last one is there');
    for (const one of all.slice(-60)) {
      const bytes = ring.get(one.span);
      if (ring.has(one.span) !== (bytes !== undefined)) wrong++;
      if (bytes === undefined) continue;
      found++;
      if (Buffer.from(bytes).toString() !== one.text) wrong++;
    }
  }
  t.equal(wrong, 0);
  t.ok(found > 1000 * 15, 'the ring is well used');
  t.notOk(ring.copy(all[0]!.span, new Uint8Array(SIZE), 0));
});

t.test('memory that was given back has nothing of before', async (t) => {
  const ring = new ByteRing(SIZE);
  const before = ring.keepText('before')!;
  ring.clear();
  t.equal(ring.get(before), undefined);
  const after = ring.keepText('after')!;
  t.equal(ring.get(before), undefined);
  t.equal(text(ring.get(after)), 'after');
});

t.test('a page grows as it must, and one follows the other', async (t) => {
  const ring = new ByteRing(SIZE);
  const span = ring.keepText('kept')!;
  const page = new PageWriter();
  const long = 'ф'.repeat(1024 * 1024);
  page.text('a');
  t.ok(page.kept(span, ring));
  page.text(long);
  t.equal(text(page.bytes()), `akept${long}`);
  t.equal(page.length, 5 + 2 * long.length);
  page.clear();
  page.text('b');
  ring.clear();
  t.notOk(page.kept(span, ring));
  t.equal(text(page.bytes()), 'b');
});
