/**
 * Our compiler beside one of another origin: the same bytes, the same complexity, or two refusals.
 * That one compiles a later dialect too; where it differs is listed below.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import t from 'tap';
import { ScriptError } from '../../src/script/language/tree.ts';
import { createScripts, type Script } from '../../src/script/script.ts';
import type { VectorFile } from '../../src/script/vector-file.ts';
import { family } from '../generators/network.ts';
import { Rng } from '../generators/random.ts';
import { programOf } from './programs.ts';

interface Compiled {
  readonly error?: string;
  readonly result?: { readonly base64: string; readonly complexity: number };
}

const { compile } = createRequire(import.meta.url)('@waves/ride-js') as {
  readonly compile: (source: string, estimator: number) => Compiled;
};

const PROGRAMS = Number(process.env['SCRIPT_PROGRAMS'] ?? 220);
/** Of the first estimator, which the two languages share. */
const ESTIMATOR = 1;
/** Functions whose cost differs, since the secure hash is one function here. */
const OTHER_COSTS = /addressFrom(?:PublicKey|String)/;
const scripts = createScripts(family.secureHash);

t.setTimeout(600_000);

function ours(source: string): Script | ScriptError {
  try {
    return scripts.compile(source, 'account');
  } catch (error) {
    if (error instanceof ScriptError) return error;
    throw error;
  }
}

/** What differs, or undefined. */
function difference(source: string): string | undefined {
  const mine = ours(source.replace('STDLIB_VERSION', 'LANGUAGE_VERSION'));
  const { error, result } = compile(source, ESTIMATOR);
  if (mine instanceof ScriptError) {
    return error === undefined ? `refused here: ${mine.message}` : undefined;
  }
  if (result === undefined) return `refused there: ${error}`;
  if (Buffer.from(mine.bytes).toString('base64') !== result.base64) return 'other bytes';
  const isSameCost = OTHER_COSTS.test(source) || mine.complexity === result.complexity;
  return isSameCost ? undefined : `complexity ${mine.complexity}, there ${result.complexity}`;
}

t.test('generated programs', async (t) => {
  const rng = new Rng(14);
  let compiles = 0;
  for (let i = 0; i < PROGRAMS; i++) {
    const source = programOf(rng, rng.chance(2) ? 1 : 2, 'STDLIB_VERSION');
    const found = difference(source);
    if (found !== undefined) t.fail(`${found}:\n${source}`);
    const script = ours(source.replace('STDLIB_VERSION', 'LANGUAGE_VERSION'));
    if (script instanceof ScriptError) continue;
    compiles++;
    const again = scripts.compile(scripts.decompile(script.bytes), 'account');
    t.same(again.bytes, script.bytes, 'decompiled and compiled again');
  }
  t.ok(compiles > PROGRAMS / 2, `${compiles} of ${PROGRAMS} compile`);
});

/** What belongs to one dialect alone, or has another form in the later one. */
const apart = [
  /\|\|.*&&/s,
  /secureHash|Contract/,
  /case \w+: \w+ \|/,
  /case t: Transaction/,
  /assetScript|match 1|base16|\[1,2\]|func |LANGUAGE_VERSION (?:8|abc)/,
  /case l: Alias/,
  /^\{-# (?!LANGUAGE_VERSION [12])/,
];

t.test('hand-written programs', async (t) => {
  const { scripts: cases = [] } = JSON.parse(
    readFileSync(new URL('../vectors/scripts.json', import.meta.url), 'utf8'),
  ) as VectorFile;
  let compared = 0;
  for (const { source, assetScript } of cases) {
    if (assetScript === true || apart.some((pattern) => pattern.test(source))) continue;
    const version = /LANGUAGE_VERSION 2/.test(source) ? 2 : 1;
    const bare = source.replace(/\{-#.*#-\}\n?/, '');
    const found = difference(`{-# STDLIB_VERSION ${version} #-}\n${bare}`);
    if (found === undefined) compared++;
    else t.comment(`${found}: ${source.slice(0, 200)}`);
  }
  t.ok(compared >= 85, `${compared} agree`);
});
