// JSON with long integers: the results of the runtime's own parser, but exact, and with limited
// depth.
import fc from 'fast-check';
import t from 'tap';
import { DEPTH_MAX, parse, stringify, TooManyValues } from '../../../src/base/json/json.ts';
import { parseExactly } from '../../../src/base/json/json-exact.ts';

const outcome = (read: () => unknown): unknown => {
  try {
    return { value: read() };
  } catch (error) {
    return error instanceof SyntaxError ? 'malformed' : error;
  }
};

t.test('without long integers it reads what JSON.parse reads', async (t) => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      // A double such as 1e18 is printed as an integer that only this parser keeps exact.
      fc.pre(!/\d{16}/.test(text));
      t.strictSame(parseExactly(text, DEPTH_MAX), JSON.parse(text), text);
    }),
  );
  t.strictSame(parseExactly(' {"__proto__":1,"a":[]}\n', 9), JSON.parse('{"__proto__":1,"a":[]}'));
});

t.test('and refuses what JSON.parse refuses', async (t) => {
  const pieces = ['{', '}', '[', ']', ',', ':', '"', '"a"', '\\', '\\u0041', '\\ud800', '1', '-'];
  const more = [
    '0',
    '01',
    '.5',
    '1.',
    '1e',
    '1e5',
    '+',
    'true',
    'nul',
    'null',
    ' ',
    '\n',
    '\u00a0',
  ];
  const text = fc.array(fc.constantFrom(...pieces, ...more), { maxLength: 12 });
  fc.assert(
    fc.property(text, (parts) => {
      const joined = parts.join('');
      const expected = outcome(() => JSON.parse(joined));
      t.strictSame(
        outcome(() => parseExactly(joined, DEPTH_MAX)),
        expected,
        joined,
      );
    }),
    { numRuns: 3000 },
  );
  for (const bad of [
    '',
    ' ',
    '"\u0001"',
    '"\\x"',
    '"',
    '[1 2]',
    '{"a" 1}',
    '{a:1}',
    'truex',
    '1 1',
  ]) {
    t.equal(
      outcome(() => parseExactly(bad, DEPTH_MAX)),
      'malformed',
      bad,
    );
  }
});

t.test('integers keep every digit', async (t) => {
  const value = [9007199254740993n, -9223372036854775808n, 1, 1.5, { a: [12345678901234567n] }];
  t.strictSame(parse(stringify(value)), value);
  t.strictSame(parse('[9007199254740991,-9007199254740992,12345678901234567.5,1e22]'), [
    9007199254740991,
    -9007199254740992n,
    12345678901234568,
    1e22,
  ]);
  t.strictSame(parse('{"9007199254740993":"9007199254740993"}'), {
    '9007199254740993': '9007199254740993',
  });
});

t.test('so do whole numbers with zeros behind the point', async (t) => {
  t.strictSame(parse('[9007199254740993.0,-123456789012345678.00,9007199254740991.0,-0.0]'), [
    9007199254740993n,
    -123456789012345678n,
    9007199254740991,
    -0,
  ]);
  t.type(parse('9007199254740993.0e1'), 'number', 'no exponent');
});

t.test('a number of very many digits is no integer that any field takes', async (t) => {
  t.equal(typeof parse('9'.repeat(40)), 'bigint');
  t.equal(typeof parse('9'.repeat(41)), 'number');
  t.equal(parse('9'.repeat(1_000_000)), Infinity);
});

t.test('the number of values is bounded, with and without long integers', async (t) => {
  const space = ' '.repeat(5000);
  for (const last of ['1', '12345678901234567']) {
    const list = (length: number) => `[${space}${'{"a":"x,[y"},'.repeat(length)}${last}]`;
    // The list, its last element, and two for each object.
    t.doesNotThrow(() => parse(list(10), 22), last);
    t.throws(() => parse(list(11), 22), TooManyValues, last);
    t.throws(() => parse(`[${'1,'.repeat(5000)}${last}]`, 5000), TooManyValues, last);
  }
  t.doesNotThrow(() => parse(`"${'1,'.repeat(5000)}"`, 1), 'commas in texts are none');
});

t.test('depth is bounded, with and without long integers', async (t) => {
  const nested = (depth: number, core: string) => '['.repeat(depth) + core + ']'.repeat(depth);
  for (const filler of ['"x"', '12345678901234567', `"${'['.repeat(5000)}\\"["`]) {
    t.doesNotThrow(() => parse(nested(DEPTH_MAX, filler)), filler.slice(0, 20));
  }
  const wide = `"${' '.repeat(5000)}"`;
  for (const filler of [wide, '12345678901234567']) {
    t.throws(() => parse(nested(DEPTH_MAX + 1, filler)), SyntaxError, filler.slice(0, 20));
    t.throws(() => parse(`${'{"a":'.repeat(DEPTH_MAX + 1)}${filler}${'}'.repeat(DEPTH_MAX + 1)}`), {
      name: 'SyntaxError',
    });
  }
  t.throws(() => parse('['.repeat(1_000_000)), SyntaxError);
});
