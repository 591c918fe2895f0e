// Patterns of clients: the same verdicts as the runtime's engine, in linear time.
import { RE2JS } from 're2js';
import t from 'tap';
import { patternsHere } from '../../src/rest/key-filter.ts';
import { isoDate } from '../../src/rest-framework/iso-date.ts';

const match = async (pattern: string, ...keys: string[]) =>
  (await patternsHere.match(pattern, keys, '')).verdicts;

t.test('verdicts', async (t) => {
  const patterns = [
    'a.*',
    '(a|b)+c?',
    '[a-c_]+\\d{2,3}',
    '^ab$',
    '',
    'a||b',
    '(ab){3}',
    'a{2,}',
    'x|ab|c',
    '[^a]b',
    '(a|(b|c)d)*e',
    '(?:ab)?c',
    'a+?b',
    '\\w\\W\\s?',
    '[\\d-]+',
    'a{0}b',
    '(a?){3}b',
    '.',
    'a\\.b',
    '[.]b',
    '(|a)b',
  ];
  const keys = ['', 'a', 'b', 'ab', 'abc', 'aab', 'ababab', 'a.b', 'cb', 'abdbde', 'a12', 'c_123'];
  keys.push('a-1', '1-2', 'aaab', 'bb', 'x', 'cde', 'e', 'ф', 'a b', '.b');
  for (const pattern of patterns) {
    const expected = new RegExp(`^(?:${pattern})$`);
    const verdicts = await match(pattern, ...keys);
    for (const [i, key] of keys.entries()) {
      t.equal(verdicts[i], expected.test(key), pattern + key);
    }
  }
});

t.test('refusals', async (t) => {
  const bad = ['(', ')', 'a)', '*', 'a**', '[a', '\\1', '(?=a)', '(?<=a)', 'a{3,1}', 'a++', '\\'];
  // A match of each of these would take longer than anything may hold the main thread.
  bad.push('(?:a?){600}', '((a?){30}){30}b', `(?:${'\\pL'.repeat(100)}){11}`, '(?:(a*)*){200}');
  bad.push('a{1,2}{2}', 'a'.repeat(501), '(a{99}){99}', '('.repeat(400), '(a?){1000}'.repeat(2));
  for (const pattern of bad) {
    const about = { code: 629, status: 400 };
    await t.rejects(match(pattern), about, pattern.slice(0, 20));
  }
});

// An engine that backtracks would still be at it when the runner gives up.
t.test('no pattern takes long', async (t) => {
  const key = 'a'.repeat(100);
  for (const pattern of ['(a*)*b', '(a|aa)+b', '(.*)*(.*)*(.*)*b', '(?:a?){490}b']) {
    t.same(await match(pattern, key), [false]);
  }
});

t.test('dates', async (t) => {
  const times = [0, 951_782_399_999, 951_782_400_000, 1_544_709_501_138, 253_402_300_799_999];
  for (let i = 0; i < 2000; i++) times.push(Math.floor(Math.random() * 253_402_300_799_999));
  for (const time of times) t.equal(isoDate(time), new Date(time).toISOString());
});

t.test('a pattern is compiled during the call', async (t) => {
  await match('a');
  const { compile } = RE2JS;
  let compiled = 0;
  t.teardown(() => {
    RE2JS.compile = compile;
  });
  RE2JS.compile = (...args) => {
    compiled++;
    return compile.apply(RE2JS, args);
  };
  const filters = ['b', 'c'].map((pattern) => match(pattern));
  t.equal(compiled, 2);
  await Promise.all(filters);
});
