// The frames of the journal on damaged bytes: what is whole is found, nothing else is, and the work
// is linear.
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import {
  type Checksum,
  FRAME_BYTES,
  Frames,
  MARK_BYTES,
  recordsIn,
} from '../../src/adapters/journal-frames.ts';

const mark = randomBytes(MARK_BYTES);
const record = (text: string): Uint8Array => new TextEncoder().encode(text);
const texts = (records: readonly Uint8Array[]): string[] =>
  records.map((one) => Buffer.from(one).toString('latin1'));

/** What one write sends to the disk. */
function written(records: readonly Uint8Array[], of: Uint8Array = mark): Buffer {
  const frames = new Frames(of);
  for (const one of records) frames.add(one);
  return Buffer.from(frames.bytes());
}

function seal(): Buffer {
  const frames = new Frames(mark);
  frames.addSeal();
  return Buffer.from(frames.bytes());
}

const read = (bytes: Buffer, checksum?: Checksum) => recordsIn(bytes, 0, mark, checksum);

function flipped(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >>> 3] = copy[bit >>> 3]! ^ (1 << (bit & 7));
  return copy;
}

t.test('a flipped bit costs one record at most, and is noticed', async (t) => {
  const all = ['one', 'the second', '', 'four'];
  const bytes = Buffer.concat([...all.map((text) => written([record(text)])), seal()]);
  for (let bit = 0; bit < (bytes.length - FRAME_BYTES) * 8; bit++) {
    const { records, places, restored } = read(flipped(bytes, bit));
    const found = texts(records);
    const isRight =
      found.length >= 3 && found.join() === all.filter((x) => found.includes(x)).join();
    if (!isRight) t.fail(`bit ${bit}: ${found.join()}`);
    if (places + restored !== 1) t.fail(`bit ${bit} is not noticed`);
  }
});

t.test('whatever is destroyed, every other record is found, in order', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.uint8Array({ maxLength: 200 }), { minLength: 1, maxLength: 4 }), {
        minLength: 2,
        maxLength: 12,
      }),
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 600 }), fc.boolean()), {
        minLength: 1,
        maxLength: 3,
      }),
      (writes, damages) => {
        const bytes = Buffer.concat([...writes.map((one) => written(one)), seal()]);
        const before = Buffer.from(bytes);
        for (const [at, length, isZero] of damages) {
          const from = at % bytes.length;
          const part = bytes.subarray(from, from + length);
          part.set(isZero ? new Uint8Array(part.length) : randomBytes(part.length));
        }
        const untouched: Uint8Array[] = [];
        let at = 0;
        let isFramed = true;
        for (const one of writes.flat()) {
          const end = at + FRAME_BYTES + one.length;
          // A mark in front of it leads to it, or the end of the frame before it.
          if (bytes.subarray(at, end).equals(before.subarray(at, end))) untouched.push(one);
          else isFramed = false;
          at = end;
        }
        const found = texts(read(bytes).records);
        const all = texts(writes.flat());
        let next = 0;
        for (const text of found) {
          next = all.indexOf(text, next) + 1;
          if (next === 0) throw new Error('a record that was not written, or in another order');
        }
        for (const text of texts(untouched)) {
          if (!found.includes(text)) throw new Error('an untouched record is not found');
        }
        const { places, restored, unfinishedBytes, end } = read(bytes);
        const isNoticed = places + restored + unfinishedBytes > 0 || end < bytes.length;
        if (!isFramed && !isNoticed) throw new Error('nothing is noticed');
      },
    ),
    { numRuns: 300 },
  );
  t.pass();
});

t.test('damaged neighbours, at any place', async (t) => {
  const all = ['one', 'two', 'three', 'four', 'five', 'six'];
  for (let first = 0; first + 1 < all.length; first++) {
    const frames = all.map((text) => written([record(text)]));
    for (const i of [first, first + 1]) frames[i]!.fill(0xff, 3, FRAME_BYTES + 1);
    const { records, places, damagedBytes, end } = read(Buffer.concat([...frames, seal()]));
    const rest = all.filter((_, i) => i !== first && i !== first + 1);
    t.strictSame(texts(records), rest);
    t.equal(places, 1, 'neighbours are one place');
    t.equal(damagedBytes, frames[first]!.length + frames[first + 1]!.length);
    t.equal(end, Buffer.concat([...frames, seal()]).length);
  }
});

t.test('a record that holds frames gives none of them away when it is damaged', async (t) => {
  const old = Buffer.alloc(8 + 4);
  old.writeUInt32BE(4);
  old.write('evil', 8);
  old.writeUInt32BE(crc32(old.subarray(8), crc32(old.subarray(0, 4))), 4);
  const guess = new Uint8Array(MARK_BYTES);
  const evil = Buffer.concat([
    written([record('evil')], guess),
    old,
    written([record('evil'), record('evil')], randomBytes(MARK_BYTES)),
    // Its end is the end of the record, so that a true frame follows.
    written([record('evil')], guess),
  ]);
  const frames = [written([record('a')]), written([evil]), written([record('b')])];
  const start = frames[0]!.length;
  for (let bit = start * 8; bit < (start + FRAME_BYTES) * 8; bit++) {
    const found = texts(read(flipped(Buffer.concat(frames), bit)).records);
    if (found.includes('evil')) t.fail(`bit ${bit}: ${found.join()}`);
    if (found[0] !== 'a' || found.at(-1) !== 'b') t.fail(`bit ${bit}: ${found.join()}`);
  }
  for (let cut = 0; cut < evil.length; cut++) {
    const bytes = Buffer.concat(frames);
    bytes.fill(0, start, start + FRAME_BYTES + cut);
    t.strictSame(texts(read(bytes).records), ['a', 'b'], `the first ${cut} bytes are lost`);
  }
});

t.test('remains of the last write are no damage, whichever sectors reached the disk', async (t) => {
  const SECTOR = 512;
  const first = written([record('one'), record('two')]);
  const last = written(Array.from({ length: 40 }, (_, i) => record(`${i}`.repeat(100))));
  for (let seed = 0; seed < 200; seed++) {
    const torn = Buffer.alloc(last.length);
    for (let at = 0; at < last.length; at += SECTOR) {
      if ((crc32(`${seed} ${at}`) & 1) === 1) torn.set(last.subarray(at, at + SECTOR), at);
    }
    const { records, places, restored } = read(Buffer.concat([first, torn]));
    t.strictSame(texts(records).slice(0, 2), ['one', 'two']);
    t.equal(places + restored, 0);
    const after = read(Buffer.concat([first, torn, written([record('later')])]));
    t.equal(texts(after.records).at(-1), 'later');
    if (!torn.equals(last)) t.ok(after.places + after.restored > 0, 'what was promised is damaged');
  }
});

t.test('damage to the last records before a seal is damage', async (t) => {
  const bytes = Buffer.concat([written([record('one')]), written([record('two')]), seal()]);
  const at = written([record('one')]).length;
  bytes.fill(0, at, at + 9);
  const { records, places, isSealed } = read(bytes);
  t.strictSame(texts(records), ['one']);
  t.equal(places, 1);
  t.equal(isSealed, true);
});

t.test('a damaged file is read in linear work', async (t) => {
  const one = written([new Uint8Array(83)]);
  const count = 40_000;
  const damages: readonly [name: string, damage: (bytes: Buffer, at: number) => void][] = [
    ['every length names the rest of the file', (b, at) => b.writeUInt32BE(b.length - at, at + 9)],
    ['every length is a little too large', (b, at) => b.writeUInt32BE(84 + one.length, at + 9)],
    ['every checksum is wrong', (b, at) => b.writeUInt32BE(1, at + 13)],
    ['no mark is left but the first', (b, at) => void (at > 0 && b.fill(0, at, at + 8))],
    ['no mark is left, and checksums are wrong', (b, at) => void b.fill(0, at, at + 16)],
  ];
  for (const [name, damage] of damages) {
    const bytes = Buffer.concat(Array.from({ length: count }, () => one));
    for (let i = 0; i < count; i++) damage(bytes, i * one.length);
    let summed = 0;
    let searched = 0;
    bytes.indexOf = (value, from) => {
      const found = Buffer.prototype.indexOf.call(bytes, value, Number(from));
      searched += (found < 0 ? bytes.length : found) - Number(from);
      return found;
    };
    const { records } = read(bytes, (part, sum) => {
      summed += part.length;
      return crc32(part, sum);
    });
    const work = `${name}: ${records.length} records, ${summed} bytes summed, ${searched} searched`;
    t.ok(summed <= 2 * bytes.length && searched <= bytes.length, work);
  }
});
