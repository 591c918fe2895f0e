// What a terminal obeys is shown to it instead.
import t from 'tap';
import { visible, visibleLines } from '../../src/base/visible.ts';

t.test('text stays as it is', async (t) => {
  for (const text of ['', 'a b', 'Привет', '日本', '😀', 'back\\slash "quoted"']) {
    t.equal(visible(text), text);
    t.equal(visibleLines(text), text);
  }
});

t.test('what joins characters stays between those that it joins', async (t) => {
  // A family, a rainbow flag, a Persian verb, and Hindi with a letter that is not joined.
  const joined = [
    '👨\u200d👩\u200d👧',
    '🏳\ufe0f\u200d🌈',
    '👩🏽\u200d💻',
    'می\u200cخواهم',
    'क्\u200cष',
  ];
  for (const text of joined) {
    t.equal(visible(text), text);
    t.equal(visibleLines(text), text);
  }
  t.equal(visible('ad\u200cmin'), 'ad\\u200cmin');
  t.equal(visible('1\u200d2 \u200d'), '1\\u200d2 \\u200d');
  t.equal(visible('می\u200c\u200cخ'), 'می\\u200c\\u200cخ', 'one alone joins');
});

t.test('what commands a terminal, or hides text in it, is escaped', async (t) => {
  t.equal(
    visible('\x1b[2J\x07\x7f\u009b8m\u202e\ud800'),
    '\\u001b[2J\\u0007\\u007f\\u009b8m\\u202e\\ud800',
  );
  t.equal(visible('\u{e0001}'), '\\udb40\\udc01');
  t.equal(visible('a\r\n\tb'), 'a\\u000d\\u000a\\u0009b');
  t.equal(visibleLines('a\r\n\tb\x1b'), 'a\\u000d\n\tb\\u001b');
});
