/** A decompiled script compiles to the same bytes. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { createScripts } from '../../src/script/script.ts';
import type { VectorFile } from '../../src/script/vector-file.ts';
import { family } from '../generators/network.ts';

const scripts = createScripts(family.secureHash);
const { scripts: cases = [] } = JSON.parse(
  readFileSync(new URL('../vectors/scripts.json', import.meta.url), 'utf8'),
) as VectorFile;

t.test('a minus behind a variable', async (t) => {
  for (const source of [
    'let x = 1;\n-x == 2',
    'let x = 1;\n-5 == x',
    'let x = 1\nlet y = 2;\n-(x + y) < 0',
  ]) {
    const { bytes } = scripts.compile(source, 'account');
    t.same(scripts.compile(scripts.decompile(bytes), 'account').bytes, bytes);
  }
});

const nested = (
  levels: number,
  end: string,
  around: (i: number, inner: string) => string,
): string => Array.from({ length: levels }).reduce<string>((inner, _, i) => around(i, inner), end);

const deep: Readonly<Record<string, string>> = {
  'else if': `let h = height\n${nested(300, 'false', (i, rest) => `if h == ${i} then false else ${rest}`)}`,
  'then if': `let h = true\n${nested(300, 'h', (_, inner) => `if h then ${inner} else h`)}`,
  braces: nested(240, 'true', (i, inner) => `let v${i} = {${inner}}\nv${i}`),
};

for (const [name, source] of Object.entries(deep)) {
  t.test(`as deep as it was written: ${name}`, async (t) => {
    const { bytes } = scripts.compile(source, 'account');
    t.same(scripts.compile(scripts.decompile(bytes), 'account').bytes, bytes);
  });
}

t.test('a branch has brackets where something may follow it', async (t) => {
  for (const source of [
    'if height > 1 then false else true',
    '(if height > 1 then false else true) && true',
    'true || (if height > 1 then false else true)',
    '(if height > 1 then 1 else 2) + 3 == 4',
    '4 == (if height > 1 then 1 else 2)',
    '(if height > 1 then tx else tx).id == tx.id',
    'let a = if height > 1 then 1 else 2\na == 1',
    'let a = if height > 1 then 1 else 2;\n-5 == a',
    '!(if height > 1 then false else true)',
    'toBytes(if height > 1 then 1 else 2) == tx.id',
    'match tx {\n  case _ => if height > 1 then false else true\n}',
  ]) {
    const { bytes } = scripts.compile(source, 'account');
    t.equal(scripts.decompile(bytes), `${source}\n`);
  }
});

for (const { source, base64, assetScript } of cases) {
  if (base64 === undefined) continue;
  t.test(source.slice(0, 100), async (t) => {
    const bytes = Buffer.from(base64, 'base64');
    const text = scripts.decompile(bytes);
    const again = scripts.compile(text, assetScript === true ? 'asset' : 'account');
    t.equal(Buffer.from(again.bytes).toString('base64'), base64, text.slice(0, 500));
    t.equal(scripts.decompile(again.bytes), text);
  });
}

t.test('what only a binary can hold has no source', async (t) => {
  const content = Uint8Array.of(1, 5, 0, 0, 0, 2, 0x74, 0x78);
  const bytes = Uint8Array.of(...content, ...family.secureHash(content).subarray(0, 4));
  t.throws(() => scripts.decompile(bytes), { message: 'No source compiles to this script' });
});
