/**
 * Patterns of keys (`matches=`), against keys of all sorts. Keys are matched one by one in turns, so
 * what counts is the dearest single step: to compile the pattern, or to match one key.
 */
import { patternsHere } from '../../../../src/rest/key-filter.ts';
import { KEY_CHARS_MAX } from '../../../../src/tx/fields/entries.ts';
import { dearPatterns } from '../found/patterns.ts';
import type { Vocabulary } from './mutation.ts';
import type { Problem } from './problem.ts';
import type { Recipe } from './recipe.ts';

/** As the answer to a malformed pattern shows it; a longer one is not compiled. */
const PATTERN_CHARS_MAX = 500;

const vocabulary: Vocabulary = {
  parts: [
    ...[
      'a',
      'b',
      '.',
      '[a-z]',
      '[^a]',
      '\\\\w',
      '\\\\d',
      '\\\\pL',
      '\\\\p{Greek}',
      '\\\\PN',
      '^',
      '$',
    ],
    ...['a*', 'a+', 'a?', 'a{10}', 'a{2,100}', '(a|b)', '(a*)*', '.*', '.+?', '(?i)', '(?s)', '|'],
    ...['\\\\x{10ffff}', '[\\\\x{0}-\\\\x{10ffff}]', '[[:alpha:]]', '\\\\b', '{2}', '{1,2}', '()'],
  ],
  layers: [
    '(…)',
    '(?:…)',
    '(…)*',
    '(…)?',
    '(…){2}',
    '(…)+',
    '…|a',
    '…a?',
    '(?i:…)',
    '[…]',
    '(?i)…',
  ],
};

const seeds: readonly Recipe[] = [
  ...dearPatterns.map(({ recipe }) => recipe),
  { layers: [], core: 'a.*' },
  { layers: [['(?:…){2}', 5]], core: '\\pL' },
  { layers: [['(…)*', 100]], core: 'a' },
  { layers: [['a?…', 100]], core: 'b' },
  { layers: [['(?:a?…)', 90]], core: '' },
  {
    layers: [
      ['(?i)…', 1],
      ['\\pL…', 150],
    ],
    core: 'b',
  },
  {
    layers: [
      ['(…){44}', 1],
      ['(…){44}', 1],
    ],
    core: '.*',
  },
  { layers: [['(?:…){1000}', 1]], core: '\\pL*\\pN*\\pZ*' },
];

const KEYS = ['a', 'ab', '漢', 'Ā', '0', '😀'].map((text) =>
  text.repeat(KEY_CHARS_MAX / text.length),
);

const problem = (name: string, prepare: Problem['prepare']): Problem => ({
  name: `pattern/${name}`,
  vocabulary,
  seeds,
  lengthMax: PATTERN_CHARS_MAX,
  prepare,
});

// Loads the engine, which the first pattern would pay for.
const match = (pattern: string, ...keys: string[]) => patternsHere.match(pattern, keys, '');
await match('a');

export const patternProblems: readonly Problem[] = [
  problem('compile', (text) => () => match(text)),
  ...KEYS.map((key, i) =>
    problem(`match-${i}`, async (text) => {
      const isGood = await match(text).then(
        () => true,
        () => false,
      );
      return isGood ? () => match(text, key) : undefined;
    }),
  ),
];
