/** Sources and binaries that try to exhaust the node end in a refusal, and soon. */
import t from 'tap';
import { Meter, RUN_UNITS_MAX } from '../../src/script/evaluation/meter.ts';
import { ScriptError } from '../../src/script/language/tree.ts';
import { createScripts, readBase64 } from '../../src/script/script.ts';
import { binaryOf, deepTrees } from '../generators/dear-scripts.ts';
import { family } from '../generators/network.ts';

const { secureHash } = family;
const scripts = createScripts(secureHash);
const soonMs = 2000;

const chain = (from: number, to: number, link: (i: number) => string): string =>
  Array.from({ length: to - from }, (_, i) => link(from + i)).join('');

const hostile: Readonly<Record<string, string>> = {
  brackets: `${'('.repeat(30_000)}true${')'.repeat(30_000)}`,
  braces: `${'{'.repeat(30_000)}true${'}'.repeat(30_000)}`,
  'unclosed brackets': '('.repeat(60_000),
  negations: `${'!'.repeat(60_000)}true`,
  conjunctions: `${'true&&'.repeat(10_000)}true`,
  branches: `${'if true then '.repeat(3000)}true${' else true'.repeat(2000)}`,
  variables: `${'let a=1 '.repeat(8000)}\ntrue`,
  calls: `${'!('.repeat(20_000)}true`,
  matches: `${'match tx {case _=>'.repeat(3000)}true`,
  types: `match tx {case t:${'Transaction|'.repeat(5000)}Order=>true case _=>false}`,
  cases: `match tx {${'case t:Transaction=>true '.repeat(2500)}case _=>false}`,
  fields: `tx${'.a'.repeat(30_000)}`,
  indexes: `tx.proofs${'[0]'.repeat(20_000)}`,
  digits: `${'9'.repeat(60_000)}==1`,
  'a long source': ' '.repeat(65_537),
  'paths that double': `let a0=1\n${chain(1, 120, (i) => `let a${i}=if true then a${i - 1} else a${i - 1}\n`)}a119==1`,
};

for (const [name, source] of Object.entries(hostile)) {
  t.test(`source: ${name}`, async (t) => {
    const from = performance.now();
    t.throws(() => scripts.compile(source, 'account'), ScriptError);
    t.ok(performance.now() - from < soonMs);
  });
}

t.test('comments behind deep branches take linear time', async (t) => {
  const source = `${'if true then '.repeat(490)}true\n${'#\n'.repeat(20_000)}${' else false'.repeat(490)}`;
  const from = performance.now();
  t.equal(scripts.compile(source, 'account').complexity, 981);
  t.ok(performance.now() - from < soonMs);
});

t.test('Base64 with padding in front takes linear time', async (t) => {
  const from = performance.now();
  t.throws(() => readBase64(`${'='.repeat(1_000_000)}A`, scripts), ScriptError);
  t.ok(performance.now() - from < soonMs);
});

for (const [name, make] of Object.entries(deepTrees)) {
  t.test(`binary: ${name}`, async (t) => {
    t.not(attempt(binaryOf(make())), 'overflow', 'the stack is deep enough');
  });
}

function attempt(bytes: Uint8Array): unknown {
  try {
    const script = scripts.read(bytes);
    script.text();
    return script.program.run({} as never, new Meter(RUN_UNITS_MAX)).result;
  } catch (error) {
    if (error instanceof ScriptError) return 'refused';
    return error instanceof RangeError ? 'overflow' : error;
  }
}

t.test('arguments are not allocated before they are there', async (t) => {
  const content = Uint8Array.of(1, 9, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff);
  const bytes = Uint8Array.of(...content, ...secureHash(content).subarray(0, 4));
  t.throws(() => scripts.read(bytes), { message: 'Invalid argument count (2147483647)' });
});
