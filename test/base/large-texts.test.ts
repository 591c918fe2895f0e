/**
 * Base64 and JSON of many megabytes: converted in windows or cut out before parsing, with the same
 * results as the simple way.
 */
import fc from 'fast-check';
import t from 'tap';
import { decodeBase64, decodedLength, encodeBase64 } from '../../src/base/base64.ts';
import { utf8 } from '../../src/base/bytes.ts';
import { cutText, RestTooLong, TooManyEscapes } from '../../src/base/json/json-cut.ts';
import { unescapeText } from '../../src/base/json/json-unescape.ts';
import { inOneGo } from '../../src/concurrency/steps.ts';

const RUNS = { numRuns: 200 };
const MIB = 1024 * 1024;

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The whole of it; undefined where it is no Base64. */
function decoded(text: string | Uint8Array): Buffer | undefined {
  const pieces: Uint8Array[] = [];
  const reading = decodeBase64(text);
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return value ? Buffer.concat(pieces) : undefined;
    pieces.push(value);
  }
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
        (text) => decodedLength(text) === bytes.length && decoded(text)!.equals(bytes),
      );
    }),
    RUNS,
  );
  const large = Buffer.alloc(3 * MIB + 1, 'many windows of it');
  t.ok(decoded(utf8(large.toString('base64')))!.equals(large));
});

t.test('what is no Base64', async (t) => {
  for (const text of ['a', 'abc', 'ab!=', 'a===', 'ab=c', '====', 'äöüß', 'ab\ncdef', 'YQ==YQ==']) {
    t.equal(decoded(text), undefined, text);
    t.equal(decoded(utf8(text)), undefined, `${text} as bytes`);
  }
});

t.test('JSON around a text that was cut out says the same as the whole', async (t) => {
  const name = fc.constantFrom('data', 'dat', 'info', 'd"ata', 'data\\', 'ключ');
  const value = fc.oneof(
    fc.json({ maxDepth: 3 }),
    fc.base64String().map((text) => `"${text}"`),
    fc.base64String().map((text) => `"${text.replaceAll('/', '\\/').replaceAll('=', '\\u003D')}"`),
  );
  const members = fc.array(fc.tuple(name, value), { maxLength: 6 });
  const space = fc.constantFrom('', ' ', '\n\t');
  fc.assert(
    fc.property(members, space, (list, gap) => {
      const inside = list.map(([key, json]) => `${JSON.stringify(key)}${gap}:${gap}${json}`);
      const text = `{${gap}${inside.join(`,${gap}`)}}`;
      const cut = cutText(utf8(text), 'data', 10_000);
      const whole = JSON.parse(text) as Record<string, unknown>;
      if (cut === undefined) return typeof whole['data'] !== 'string';
      const rest = JSON.parse(cut.rest) as Record<string, unknown>;
      t.equal(cut.isEscaped, cut.text.includes(0x5c));
      const found = Buffer.from(inOneGo(unescapeText(cut.text))).toString();
      // What is not ASCII cannot be Base64, so it need not be told apart.
      if (/[^ -~]/.test(String(whole['data']))) return true;
      // The last of several wins, and only a text is cut.
      const same = rest['data'] === '' ? { ...rest, data: found } : rest;
      return JSON.stringify(same) === JSON.stringify(whole);
    }),
    RUNS,
  );
  t.end();
});

t.test('escapes are taken out as JSON.parse does', async (t) => {
  const unescaped = (inside: string): string =>
    Buffer.from(inOneGo(unescapeText(utf8(inside)))).toString('latin1');
  const character = fc.integer({ min: 0, max: 127 }).map((code) => String.fromCharCode(code));
  const written = fc.tuple(character, fc.integer({ min: 0, max: 3 })).map(([char, how]) => {
    const code = char.charCodeAt(0).toString(16).padStart(4, '0');
    if (how === 0) return `\\u${code}`;
    if (how === 1) return `\\u${code.toUpperCase()}`;
    return char === '/' && how === 2 ? '\\/' : JSON.stringify(char).slice(1, -1);
  });
  fc.assert(
    fc.property(fc.array(written, { maxLength: 40 }), (parts) => {
      const inside = parts.join('');
      return unescaped(inside) === JSON.parse(`"${inside}"`);
    }),
    RUNS,
  );
  for (const inside of ['\\', '\\x', '\\u', '\\u12', '\\u12g4', 'a\\u004']) {
    t.throws(() => unescaped(inside), SyntaxError, inside);
  }
  t.equal(unescaped('\\u20ac'), '\u00ff', 'what is not ASCII is not Base64 either');
  const long = '\\/'.repeat(MIB);
  let steps = 0;
  for (const work = unescapeText(utf8(long)); work.next().done !== true; ) steps++;
  t.ok(steps >= 32, `${steps} steps`);
});

t.test('what is no JSON stays so', async (t) => {
  for (const text of [
    '{"data":"abc',
    '{"data":"abc"',
    '"data":"x"',
    '{"data":"a"}}',
    '[{"data":"a"}]',
  ]) {
    const around = (): string => cutText(utf8(text), 'data', 10_000)?.rest ?? text;
    const parses = (json: () => string): boolean => {
      try {
        JSON.parse(json());
        return true;
      } catch {
        return false;
      }
    };
    t.equal(
      parses(around),
      parses(() => text),
      text,
    );
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
  for (const rough of ['\\"', '\\\\']) {
    t.throws(() => cut(`{"data":"${rough.repeat(2000)}"}`), TooManyEscapes);
    t.throws(() => cut(`{"info":"${rough.repeat(2000)}","data":""}`), RestTooLong);
  }
});
