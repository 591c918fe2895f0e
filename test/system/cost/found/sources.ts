/** Sources that are dear to compile. */
import type { Found } from './found.ts';

export const dearToCompile: readonly Found[] = [
  {
    name: 'comparisons of a union of many members',
    how: 'a reading; source/account --seed=5 filled all 64 KiB with it',
    beforeMs: 2983,
    recipe: {
      layers: [
        ['match tx {case t:«Transaction|*57»Order=>… case _=>true}', 1],
        ['(«t==t&&*400»true)&&…', 26],
      ],
      core: 'true',
    },
  },
  {
    name: 'a match inside a match over such a union',
    how: 'source/account --seed=3',
    beforeMs: 412,
    recipe: {
      layers: [
        ['match tx {case t:«Transaction|*57»Order=>… case _=>true}', 1],
        ['t==t&&…', 903],
        ['match tx {case t:«Transaction|*57»Order=>… case _=>true}', 2],
      ],
      core: '«t==t&&*100»true',
    },
  },
  {
    name: 'a scope that grows',
    how: 'source/account --seed=2, from a reading',
    beforeMs: 57,
    recipe: {
      layers: [
        ['let a$i=if true then tx else transactionById(tx.id)\n…', 4],
        ['let a$i=if true then a$p else transactionById(tx.id)\n…', 930],
      ],
      core: 'true',
    },
  },
  {
    name: 'as many names as there is room for',
    how: 'a reading',
    beforeMs: 50,
    recipe: { layers: [['let a$i=1\n…', 980]], core: '(«(1==1)&&*900»true)' },
  },
  {
    name: 'as many comparisons as are read to the end',
    how: 'a reading',
    beforeMs: 30,
    recipe: {
      layers: [['match tx {case t:«Transaction|*2»Order=>… case _=>true}', 1]],
      core: '(«t==t&&*700»true)',
    },
  },
];
