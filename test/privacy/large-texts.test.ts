/** Base64 and JSON of many megabytes: converted in windows, parsed around, and equal to the plain way. */
import fc from 'fast-check';
import t from 'tap';
import { decodeBase64, decodedLength, encodeBase64 } from '../../src/base/base64.ts';
import { utf8 } from '../../src/base/bytes.ts';
import { cutText, RestTooLong } from '../../src/base/json-cut.ts';

const RUNS = { numRuns: 200 };
const MIB = 1024 * 1024;

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

t.test('Base64 there and back', async (t) => {
  const input = fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 1, max: 50 }));
  await fc.assert(
    fc.asyncProperty(input, async ([bytes, size]) => {
      const expected = Buffer.from(bytes).toString('base64');
      const encoded = await encodeBase64(pieces(bytes, size), bytes.length, '"');
      if (Buffer.from(encoded).toString() !== `"${expected}"`) return false;
      const ascii = encoded.subarray(1, -1);
      return [expected, ascii].every(
        (text) =>
          decodedLength(text) === bytes.length && Buffer.from(decodeBase64(text)!).equals(bytes),
      );
    }),
    RUNS,
  );
  const large = Buffer.alloc(3 * MIB + 1, 'many windows of it');
  t.ok(Buffer.from(decodeBase64(utf8(large.toString('base64')))!).equals(large));
});

t.test('what is no Base64', async (t) => {
  for (const text of ['a', 'abc', 'ab!=', 'a===', 'ab=c', '====', 'äöüß', 'ab\ncdef', 'YQ==YQ==']) {
    t.equal(decodeBase64(text), undefined, text);
    t.equal(decodeBase64(utf8(text)), undefined, `${text} as bytes`);
  }
});

t.test('JSON around a text that was cut out says the same as the whole', async (t) => {
  const name = fc.constantFrom('data', 'dat', 'info', 'd"ata', 'data\\', 'ключ');
  const value = fc.oneof(
    fc.json({ maxDepth: 3 }),
    fc.base64String().map((text) => `"${text}"`),
  );
  const members = fc.array(fc.tuple(name, value), { maxLength: 6 });
  const space = fc.constantFrom('', ' ', '\n\t');
  fc.assert(
    fc.property(members, space, (list, gap) => {
      const inside = list.map(([key, json]) => `${JSON.stringify(key)}${gap}:${gap}${json}`);
      const text = `{${gap}${inside.join(`,${gap}`)}}`;
      const cut = cutText(utf8(text), 'data', 10_000);
      const whole = JSON.parse(text) as Record<string, unknown>;
      if (cut === undefined) return typeof whole['data'] !== 'string' || /["\\]/.test(text);
      const rest = JSON.parse(cut.rest) as Record<string, unknown>;
      const found = Buffer.from(cut.text).toString();
      // The last of several wins, and only a text is cut.
      const same = rest['data'] === '' ? { ...rest, data: found } : rest;
      return JSON.stringify(same) === JSON.stringify(whole);
    }),
    RUNS,
  );
  t.end();
});

t.test('what is no JSON stays so', async (t) => {
  for (const text of [
    '{"data":"abc',
    '{"data":"abc"',
    '"data":"x"',
    '{"data":"a"}}',
    '[{"data":"a"}]',
  ]) {
    const cut = cutText(utf8(text), 'data', 10_000);
    const rest = cut === undefined ? text : cut.rest;
    const parses = (json: string): boolean => {
      try {
        JSON.parse(json);
        return true;
      } catch {
        return false;
      }
    };
    t.equal(parses(rest), parses(text), text);
  }
});

t.test('only one text may be long', async (t) => {
  const long = 'A'.repeat(5000);
  const cut = (text: string) => cutText(utf8(text), 'data', 1000);
  t.equal(cut(`{"data":"${long}","info":1}`)?.text.length, 5000);
  for (const text of [
    `{"info":"${long}","data":"x"}`,
    `{"data":"x","info":[${'1,'.repeat(1000)}1]}`,
    `{"data":"${long}","data":"${long}"}`,
    `{"a":{"data":"${long}"}}`,
    '['.repeat(5000),
  ]) {
    t.throws(() => cut(text), RestTooLong, text.slice(0, 20));
  }
});
