// The search climbs, repeats itself under the same seed, and keeps to what an input may be. Steps
// are counted here, so that no machine decides.
import t from 'tap';
import { createScripts } from '../../../../src/script/script.ts';
import { family } from '../../../family.ts';
import { Rng } from '../../../generators/random.ts';
import { climb } from './climb.ts';
import { mutated, spans } from './mutation.ts';
import { fitted, type Recipe, textOf } from './recipe.ts';
import { NotationError, scriptOf, treeOf } from './script-notation.ts';

t.test('a recipe repeats its layers around its core', async (t) => {
  const recipe: Recipe = {
    layers: [
      ['let a$i=1 …', 2],
      ['(a$p+…)', 2],
    ],
    core: 'a$p',
  };
  t.equal(textOf(recipe), 'let a0=1 let a1=1 (a1+(a2+a3))');
  t.equal(textOf({ layers: [['«ab*2»…c', 2]], core: '«d*0»«e$p*2»' }), 'ababababe1e1cc');
  const cut = fitted(
    {
      layers: [
        ['(…)', 1000],
        ['x…', 3],
      ],
      core: 'y',
    },
    { lengthMax: 20 },
  );
  t.equal(textOf(cut!), '((((((((xxxy))))))))');
  t.equal(fitted({ layers: [], core: 'long' }, { lengthMax: 3 }), undefined);
  const odd = { lengthMax: 100, fits: (text: string) => text.length <= 11 };
  t.equal(textOf(fitted({ layers: [['(…)', 50]], core: 'y' }, odd)!), '(((((y)))))');
});

t.test('changes keep the place of the core and depend on the seed alone', async (t) => {
  const words = { parts: ['1', '(b c)'], layers: ['[…]', 'd …'] };
  const first: Recipe = { layers: [['(a … "x y")', 3]], core: '(e f)' };
  const run = (seed: number): Recipe[] => {
    const rng = new Rng(seed);
    const made = [first];
    for (let i = 0; i < 500; i++) made.push(mutated(made.at(-1)!, first, words, rng));
    return made;
  };
  t.equal(JSON.stringify(run(1)), JSON.stringify(run(1)));
  t.not(JSON.stringify(run(1)), JSON.stringify(run(2)));
  const arounds = run(3).flatMap(({ layers }) => layers);
  t.ok(arounds.length > 500);
  t.ok(arounds.every(([around, times]) => around.split('…').length === 2 && times >= 1));
  const found = spans('(a "x y" [1])').map(([from, to]) => '(a "x y" [1])'.slice(from, to));
  t.strictSame(found, ['a', '"x y"', '1', '[1]', '(a "x y" [1])']);
});

t.test('the search finds what costs most', async (t) => {
  // Each bracket doubles the cost, and only behind a `b`.
  const cost = (text: string): number => {
    const depth = /b(\(*)/.exec(text)?.[1]?.length ?? 0;
    return 2 ** depth + text.length / 1000;
  };
  const search = (seed: number) =>
    climb(
      {
        vocabulary: { parts: ['a', 'b', 'c'], layers: ['(…)', 'b…', 'c…'] },
        seeds: [{ layers: [['a…', 2]], core: 'a' }],
        lengthMax: 60,
      },
      cost,
      { seed, isOver: (_dearest, tries) => tries === 3000 },
    );
  const [dearest] = await search(1);
  t.ok(dearest!.score >= 2 ** 25, `${textOf(dearest!.recipe)} costs ${dearest!.score}`);
  t.strictSame((await search(1))[0], dearest);
});

t.test('the notation of scripts tells every kind of tree', async (t) => {
  const scripts = createScripts(family.secureHash);
  const read = (text: string): string => scripts.read(scriptOf(text, family.secureHash)).text();
  t.equal(
    read('(let x 0x01*3 (if (#0 x 0x) (isDefined (. tx id)) (#102 -1 7)))'),
    'BLOCK(LET(x,CONST_BYTEVECTOR(ByteVector(3 bytes, 0x010101))),IF(FUNCTION_CALL(Native(0),' +
      'List(REF(x), CONST_BYTEVECTOR(ByteVector(empty)))),FUNCTION_CALL(User(isDefined),' +
      'List(GETTER(REF(tx),id))),FUNCTION_CALL(Native(102),List(CONST_LONG(-1), CONST_LONG(7)))))',
  );
  t.equal(read('(#0 "a b"*2 true)'), 'FUNCTION_CALL(Native(0),List(CONST_STRING(a ba b), TRUE))');
  t.strictSame(treeOf('KEY', { KEY: '0x01' }), { op: 'bytes', value: Buffer.from([1]) });
  for (const bad of ['', '(', ')', '(let x)', '(. x)', '()', 'a b', '(if true)']) {
    t.throws(() => treeOf(bad), NotationError, bad);
  }
});
