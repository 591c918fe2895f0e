/** What the compiler does for a source is bounded by the size of the source, whatever is in it. */
import t from 'tap';
import { SCRIPT_BYTES_MAX, writeScript } from '../../src/script/language/binary.ts';
import { ScriptError, TRUE } from '../../src/script/language/tree.ts';
import { INT, members, STRING, typeText, union } from '../../src/script/language/types.ts';
import { createScripts, readDirectives, SOURCE_LENGTH_MAX } from '../../src/script/script.ts';
import { dearSources } from '../generators/dear-scripts.ts';
import { family } from '../generators/network.ts';
import { callsOf } from './counted-calls.ts';

const scripts = createScripts(family.secureHash);
const TOO_MANY_STEPS = 'Script is too complex: too many types to check';
const TOO_LONG = 'Script is too large: more than 16384 bytes > 8192 bytes';
/** The prefix, 4,096 characters and the sign for more. */
const REFUSAL_LENGTH_MAX = 4200;

/** The text of the refusal, or undefined. */
function refusal(source: string): string | undefined {
  try {
    scripts.compile(source, 'account');
    return undefined;
  } catch (error) {
    if (error instanceof ScriptError) return error.message;
    throw error;
  }
}

t.test('dear sources end in a short text', async (t) => {
  for (const [name, make] of Object.entries(dearSources)) {
    const source = make();
    t.ok(source.length <= SOURCE_LENGTH_MAX, name);
    const text = refusal(source) ?? '';
    t.ok(text.length <= REFUSAL_LENGTH_MAX, `${text.length} characters: ${text.slice(0, 100)}`);
  }
});

t.test('looking at wide types again and again is too much', async (t) => {
  const compared = (count: number): string =>
    `match tx{case t:Transaction|Transaction|Order=>(${'t==t&&'.repeat(count)}true) case _=>true}`;
  t.equal(refusal(compared(700)), TOO_MANY_STEPS);
  t.match(refusal(compared(500)), /^Script is too large: \d+ bytes > 8192 bytes$/);
});

t.test('a source is read up to twice the bytes of the longest script', async (t) => {
  const compared = (count: number): string => `${'tx==tx&&'.repeat(count)}true`;
  t.equal(refusal(compared(600)), 'Script is too large: 14406 bytes > 8192 bytes');
  t.equal(refusal(compared(700)), TOO_LONG);
  for (const [name, make] of Object.entries(dearSources)) {
    if (refusal(make()) !== TOO_LONG) continue;
    const reads = callsOf([[String.prototype, ['startsWith']]], () => refusal(make()));
    t.ok(reads < 20 * SCRIPT_BYTES_MAX, `${name}: ${reads} looks for a text`);
  }
  t.equal(refusal(dearSources['unions compared']!()), TOO_LONG);
  t.equal(refusal(`(${'false||'.repeat(990)}true)`), undefined, 'many short nodes');
  const unread = `match tx{case _=>true case _=>(${'tx==tx&&'.repeat(700)}true)}`;
  t.equal(refusal(unread), TOO_LONG, 'what is dropped counts');
  const types = `match tx{${'case _:Transaction|Order=>true '.repeat(400)}case _=>true}`;
  t.equal(refusal(types), TOO_LONG, 'each type that a name stands for counts');
  for (const [name, source] of [
    ['a text', `"${'x'.repeat(8100)}"==""`],
    ['characters of two bytes', `"${'é'.repeat(4050)}"==""`],
    ['names', `let ${'a'.repeat(2000)}=1\n${`${'a'.repeat(2000)}==1&&`.repeat(2)}true`],
    ['fields', `${'tx.id==tx.id&&'.repeat(190)}true`],
    ['types', `match tx{${'case _:Order=>true '.repeat(150)}case _=>true}`],
  ] as const) {
    t.equal(refusal(source), undefined, name);
    t.ok(scripts.compile(source, 'account').bytes.length > SCRIPT_BYTES_MAX / 2, name);
  }
});

t.test('8,192 bytes of joins of the widest type are not too much', async (t) => {
  let source = '';
  const lines = (count: number): string =>
    `let t=tx\n${Array.from({ length: count }, (_, i) => `let a${i}=if true then t else t\n`).join('')}true`;
  for (let count = 1; refusal(lines(count)) === undefined; count++) source = lines(count);
  t.ok(scripts.compile(source, 'account').bytes.length > SCRIPT_BYTES_MAX - 30);
});

t.test('a long source that is a short script', async (t) => {
  const source = `${'# a comment\n'.repeat(5000)}height > 1`;
  t.ok(source.length > 60_000);
  t.equal(refusal(source), undefined);
});

t.test('variables are not copied', async (t) => {
  const source = dearSources['variables']!();
  const changes = callsOf([[Map.prototype, ['set', 'delete']]], () => refusal(source));
  t.ok(changes < source.length, `${changes} changes of maps`);
});

t.test('types are printed for refusals only', async (t) => {
  const sorts = callsOf([[Array.prototype, ['sort', 'join']]], () =>
    refusal(`${'tx==tx&&'.repeat(100)}true`),
  );
  t.ok(sorts < 20, `${sorts} lists of names`);
});

t.test('a union holds a name twice at most', async (t) => {
  const wide = union(...Array.from({ length: 1000 }, () => union(INT, STRING)));
  t.equal(members(wide).length, 4);
  t.equal(members(union(wide, INT, wide)).length, 4);
  t.equal(typeText(union(INT, INT, INT)), 'UNION(Int|Int)');
  t.equal(union(INT), INT);
});

t.test('what is named twice is a union still', async (t) => {
  const inner = (types: string): string =>
    `match tx {
       case t: ${types} => match t { case _: Order => true case _ => false }
       case _ => false
     }`;
  t.equal(refusal(inner('Order | Order')), undefined);
  t.equal(refusal(inner('Order | Order | Order')), undefined);
  t.equal(refusal(inner('Order')), 'Typecheck failed: Only union type can be matched');
});

t.test('too large a tree is counted and not kept', async (t) => {
  const args = new Array(100_000).fill({ op: 'string', value: 'x'.repeat(100) });
  const pushes = callsOf([[Array.prototype, ['push']]], () =>
    t.throws(() => writeScript(1, { op: 'call', header: 0, args }, family.secureHash), {
      message: 'Script is too large: 10500013 bytes > 8192 bytes',
    }),
  );
  t.ok(pushes < 200_000, `${pushes} pushes`);
  t.equal(writeScript(1, TRUE, family.secureHash).length, 6);
});

t.test('directives', async (t) => {
  const versionOf = (line: string): number | string => {
    try {
      return readDirectives(line).version;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const bad = "Can't parse language version";
  const wrong = 'Unsupported language version';
  for (const [line, expected] of [
    ['{-# LANGUAGE_VERSION 2 #-}', 2],
    [' \t{-#LANGUAGE_VERSION\t2#-}\r', 2],
    ['{-# LANGUAGE_VERSION2 #-}', 2],
    ['{-# LANGUAGE_VERSION22 #-}', 1],
    ['{-# LANGUAGE_VERSION22 2 #-}', 1],
    ['{-# LANGUAGE_VERSION 22 #-}', wrong],
    ['{-# LANGUAGE_VERSION/2 #-}', bad],
    ['{-# LANGUAGE_VERSIONx #-}', bad],
    ['{-# LANGUAGE_VERSION_ #-}', 1],
    ['{-# LANGUAGE_VERSION #-}', 1],
    ['{-# LANGUAGE_VERSION 2 2 #-}', 1],
    ['{-# LANGUAGE_VERSION 2 #-} true', 1],
    ['{-# OTHER 2 #-}\n{-# LANGUAGE_VERSION 2 #-}\n{-# LANGUAGE_VERSION 1 #-}', 2],
  ] as const) {
    t.equal(versionOf(line), expected, JSON.stringify(line));
  }
});

t.test('a directive takes linear time', async (t) => {
  // Quadratic time would be minutes, so that the test would not end.
  for (const text of ['a', 'LANGUAGE_VERSION', 'LANGUAGE_VERSION ', 'LANGUAGE_VERSION/', ' ']) {
    for (const more of ['a', ' ', '/', '_', ' #-']) {
      const line = `{-#${text}${more.repeat(1_000_000)}`;
      t.equal(readDirectives(line).version, 1);
    }
  }
});
