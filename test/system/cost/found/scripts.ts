/**
 * Compiled scripts, in the notation of search/script-notation.ts: those that are dear to read, and
 * those that are dear to run. The words are those of search/script-problems.ts.
 */
import { SCRIPT_BYTES_MAX } from '../../../../src/script/language/binary.ts';
import { ScriptError } from '../../../../src/script/language/tree.ts';
import type { Bounds, Recipe } from '../search/recipe.ts';
import { fitted, textOf } from '../search/recipe.ts';
import { scriptOf, type Words } from '../search/script-notation.ts';
import type { Found } from './found.ts';

/** A value that is looked at along 16 paths. */
export const DOUBLED =
  '(let a … (let b (if true a a) (let c (if true b b) (let d (if true c c) (if true d d)))))';
/** 8 KiB of bytes under a name, by joining. */
export const LONG = '(let x 0x01*1024 (let x (#203 x x) (let x (#203 x x) (let x (#203 x x) …))))';
const SHARED = '(let x (AssetPair x x) (let y (AssetPair y y) …))';
const CHECKED = '(if (#500 (. tx bodyBytes) (#401 (. tx proofs) 0) KEY) true …)';

/** Dear to decode, before any signature is looked at. */
export const dearToRead: readonly Found[] = [
  {
    name: 'changes that are undone on 16 paths',
    how: 'a reading; script/read --seed=5 made it twice as dear',
    beforeMs: 753,
    recipe: {
      layers: [
        [DOUBLED, 1],
        ['(#502 …)', 1],
        [DOUBLED, 2],
        ['(if true … true)', 1242],
        ['(let x true …)', 300],
        ['(let x true …)', 300],
      ],
      core: '(#420 7)',
    },
  },
  {
    name: 'doubled paths inside doubled paths',
    how: 'script/read --seed=6, once nothing is undone any more',
    beforeMs: 40,
    recipe: {
      layers: [
        ['(let x true …)', 60],
        [DOUBLED, 64],
        [DOUBLED, 33],
      ],
      core: 'x',
    },
  },
  {
    name: 'paths that double, as many as are permitted',
    how: 'a reading',
    beforeMs: 40,
    recipe: {
      layers: [
        ['(let a$i true …)', 1],
        ['(let a$i (if true a$p a$p) …)', 14],
      ],
      core: 'a$p',
    },
  },
  {
    name: 'conditions of the greatest depth',
    how: 'a reading',
    beforeMs: 3,
    recipe: { layers: [['(if … true true)', 2700]], core: 'true' },
  },
];

/** Within the limit of complexity, and dear to run. Only the last one permits what it judges. */
export const dearToRun: readonly Found[] = [
  {
    name: '`==` on records that share parts',
    how: 'a reading; script/account --seed=1 found it from 12 levels on',
    beforeMs: 3000,
    recipe: {
      layers: [
        ['(let x 1 (let y 1 …))', 1],
        [SHARED, 32],
      ],
      core: '(#0 x y)',
    },
  },
  {
    name: 'hashes of the whole transaction',
    how: 'script/units --seed=6',
    beforeMs: 40,
    recipe: {
      layers: [['(if (#0 (#501 (. tx bodyBytes)) KEY) true …)', 80]],
      core: 'false',
    },
  },
  {
    name: 'products behind hashes',
    how: 'script/units --seed=6',
    beforeMs: 40,
    recipe: {
      layers: [
        ['(. … a)', 16],
        ['(let x true …)', 100],
        ['(if (#0 (#501 (. tx bodyBytes)) KEY) true …)', 40],
        ['(#1042 … "a"*1000)', 1],
        ['(#106 … 7)', 4],
        ['(#104 … 7)', 190],
      ],
      core: '(AssetPair x x)',
    },
  },
  {
    name: 'hashes of 8 KiB, all of them shown in the refusal',
    how: 'script/asset --seed=6',
    beforeMs: 16,
    recipe: {
      layers: [
        [LONG, 1],
        ['(if (#0 (#501 x) (#503 x)) (throw) …)', 50],
        ['(#107 … 7 7)', 119],
      ],
      core: 'false',
    },
  },
  {
    name: 'a large transaction, looked up 15 times',
    how: 'a reading',
    beforeMs: 20,
    recipe: { layers: [['(if (isDefined (#1000 KNOWN)) … false)', 14]], core: 'false' },
  },
  {
    name: 'signatures of a large message',
    how: 'a reading',
    beforeMs: 15,
    recipe: { layers: [[CHECKED, 17]], core: 'false' },
  },
];

const bounds = (words: Words): Bounds => ({
  lengthMax: 12 * SCRIPT_BYTES_MAX,
  fits(text) {
    try {
      return scriptOf(text, noHash, words).length <= SCRIPT_BYTES_MAX;
    } catch (error) {
      if (error instanceof ScriptError) return false;
      throw error;
    }
  },
});

const noHash = (): Uint8Array => new Uint8Array(4);

const NUMBER = Buffer.from('5ca1ab1e', 'hex');
const CHECKSUM_BYTES = 4;

/**
 * Scripts of the same cost under numbers below 2^32, so that no cache knows them; where there is no
 * room for the number, they have a little less of what costs most.
 */
export function variants(
  { layers, core }: Recipe,
  secureHash: (message: Uint8Array) => Uint8Array,
  words: Words = {},
): (number: number) => Uint8Array {
  const numbered = `(let z 0x${NUMBER.toString('hex')} …)`;
  const made = fitted({ layers: [[numbered, 1], ...layers], core }, bounds(words));
  if (made === undefined) throw new Error('the recipe makes no script');
  const first = Buffer.from(scriptOf(textOf(made), secureHash, words));
  const at = first.indexOf(NUMBER);
  return (number) => {
    const script = Buffer.from(first);
    script.writeUInt32BE(number, at);
    const end = script.length - CHECKSUM_BYTES;
    script.set(secureHash(script.subarray(0, end)).subarray(0, CHECKSUM_BYTES), end);
    return script;
  };
}
