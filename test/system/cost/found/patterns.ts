/** Patterns of keys, each with the sign of which the dearest key consists. */
import type { Found } from './found.ts';

export interface FoundPattern extends Found {
  readonly sign: string;
}

export const dearPatterns: readonly FoundPattern[] = [
  {
    name: 'letters, written out a thousand times',
    how: 'pattern/match-3 --seed=1',
    beforeMs: 1578,
    sign: 'Ā',
    recipe: {
      layers: [
        ['(?:…){1000}', 1],
        ['\\pL…', 150],
        ['(?i)…', 1],
      ],
      core: '\\pL*\\pN*\\pZ*',
    },
  },
  {
    name: 'doublings inside each other',
    how: 'pattern/match-0 --seed=1',
    beforeMs: 801,
    sign: 'a',
    recipe: {
      layers: [
        ['(…){2}', 9],
        ['\\pL…', 150],
      ],
      core: 'a',
    },
  },
  {
    name: 'letters that may be missing, within the bounds',
    how: 'a reading, once there were bounds',
    beforeMs: 40,
    sign: 'a',
    recipe: { layers: [['(?:…){490}', 1]], core: '\\pL?' },
  },
  {
    name: 'letters of either case',
    how: 'pattern/compile --seed=1',
    beforeMs: 29,
    sign: 'Ā',
    recipe: {
      layers: [
        ['(?i)…', 1],
        ['\\pL…', 151],
        ['(…)?', 4],
      ],
      core: '^',
    },
  },
];
