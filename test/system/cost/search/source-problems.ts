/** Sources of scripts, as `POST /utils/script/compile` takes them. */
import { builtins } from '../../../../src/script/evaluation/functions.ts';
import { createScripts, SOURCE_LENGTH_MAX } from '../../../../src/script/script.ts';
import { family } from '../../../family.ts';
import { dearToCompile } from '../found/sources.ts';
import type { Vocabulary } from './mutation.ts';
import type { Problem } from './problem.ts';
import type { Recipe } from './recipe.ts';

const calls = builtins.map(
  ({ name, parameters }) => `${name}(${parameters.map(() => 'a$p').join(',')})`,
);

const vocabulary: Vocabulary = {
  parts: [
    ...calls,
    ...['1', 'true', '""', "base58''", "base58'2NEpo7TZRRrLZSi2U'", "base64'AQID'", '-1', '$i'],
    ...['tx', 'height', 'unit', 'a$i', 'a$p', 'tx.proofs', 'tx.id', 'tx.sender', 'Buy', 'x'],
    ...['if true then a$p else 1', '(if true then a$p else unit)', 'if a$p then 1 else ""'],
    ...['{let b=1 b}', 'a$p==a$p', '(tx)', 'getInteger(tx.sender,"")', 'transactionById(tx.id)'],
    ...['match tx {case _ => 1}', 'match a$p {case t:Transaction => t case _ => 1}', '#\n', ' '],
    ...[
      't==t',
      '«t==t&&*100»true',
      '«Transaction|*50»Order',
      'case t:Transaction=>true',
      'Transaction',
      'Order',
      'ByteVector',
      'Unit',
      '|',
      '&&',
      '||',
    ],
    ...['"\\u0041"', '\\n', 'AssetPair(a$p,a$p)', 'Transfer(tx.sender,1)', 'Address(tx.id)'],
  ],
  layers: [
    ...['(…)', '{…}', '[…]', 'let a$i=1 …', 'let a$i=a$p …', 'let a=… ', '!…', '-…', '#…', ' …'],
    ...['…==1', '…&&true', 'true||…', '…+1', '1+…', '….id', '…[0]', 'size(…)', 'f(…)', '"…"'],
    ...['if true then … else 1', 'if … then 1 else 2', 'if true then 1 else …', '…\n'],
    ...['match tx {case _=>…}', 'match … {case _=>1}', 'match tx {case t:Order=>1 case _=>…}'],
    ...[
      'let a$i=if true then a$p else a$p\n…',
      'let a$i=if true then a$p else transactionById(tx.id)\n…',
    ],
    ...['let a$i=if true then a$p else getInteger(tx.sender,"")\n…', 'case t$i:Order=>1 …'],
    ...['let a$i=AssetPair(a$p,a$p)\n…', 'Transaction|…', 'extract(…)', "base64'…'", "base58'…'"],
    'let a$i=match a$p {case t:Transaction=>t case _=>a$p}\n…',
  ],
};

const VERSION = '{-# LANGUAGE_VERSION 2 #-}\n…';

const seeds: readonly Recipe[] = [
  { layers: [[VERSION, 1]], core: 'true' },
  {
    layers: [
      ['match tx {…case _=>true}', 1],
      ['case t:Transaction=>true …', 2500],
    ],
    core: '',
  },
  { layers: [['(…)', 490]], core: 'true' },
  { layers: [['!…', 900]], core: 'true' },
  { layers: [['true&&…', 990]], core: 'true' },
  { layers: [['# …\n', 10_000]], core: 'true' },
  {
    layers: [
      ['"…"==""', 1],
      ['\\u0041…', 10_000],
    ],
    core: '',
  },
  {
    layers: [
      ["base58'…'==base58''", 1],
      ['z…', 12_000],
    ],
    core: '',
  },
  {
    layers: [
      ['{-# A …', 1],
      [' …', 60_000],
    ],
    core: '',
  },
  ...dearToCompile.map(({ recipe }) => recipe),
];

const { secureHash } = family;

export const sourceProblems: readonly Problem[] = (['account', 'asset'] as const).map(
  (context) => ({
    name: `source/${context}`,
    vocabulary,
    seeds,
    lengthMax: SOURCE_LENGTH_MAX,
    prepare: (text) => () => createScripts(secureHash).compile(text, context),
  }),
);
