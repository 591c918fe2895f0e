/** A run takes no more of the engine's stack for a deep script than for a flat one. */
import t from 'tap';
import { Meter, UNMETERED } from '../../src/script/evaluation/meter.ts';
import { programOf } from '../../src/script/evaluation/program.ts';
import type { Tree } from '../../src/script/language/tree.ts';
import { EvaluationFailure } from '../../src/script/language/values.ts';
import { shownVariables } from '../../src/script/text/variables-text.ts';
import { block, call, choice, field, name, TRUE, worlds } from './world.ts';

/** Deeper than 8,192 bytes allow. */
const DEPTH = 3000;

function nested(link: (inner: Tree) => Tree): Tree {
  let tree = TRUE;
  for (let i = 0; i < DEPTH; i++) tree = link(tree);
  return tree;
}

/** Each variable is the value of the next one. */
function variables(): Tree {
  let tree: Tree = name(`x${DEPTH - 1}`);
  for (let i = DEPTH - 1; i > 0; i--) tree = block(`x${i}`, call('!', name(`x${i - 1}`)), tree);
  return block('x0', TRUE, tree);
}

const records = nested((inner) => call('Alias', inner));

const deep: Readonly<Record<string, Tree>> = {
  conditions: nested((inner) => choice(inner, TRUE, TRUE)),
  branches: nested((inner) => choice(TRUE, inner, TRUE)),
  blocks: nested((inner) => block('x', TRUE, inner)),
  calls: nested((inner) => call('!', inner)),
  fields: nested((inner) => field(inner, 'alias')),
  variables: variables(),
  'records that are compared': block(
    'a',
    records,
    block('b', records, call(0, name('a'), name('b'))),
  ),
  'a failure behind many variables': block('x', call('throw'), variables()),
};

const OVERFLOW = /call stack/;
/** Frames of `unwound`, which are short. The text of a deep record takes a few hundred. */
const FRAMES_MAX = 1000;

/** Goes to the end of the stack and back, until the work has enough; returns how far back that is. */
function unwound(work: () => boolean): number {
  let back: number;
  try {
    back = unwound(work);
  } catch {
    return 0;
  }
  if (back < 0) return back;
  try {
    return work() ? -1 - back : back + 1;
  } catch {
    return back + 1;
  }
}

const framesOf = (work: () => boolean): number => -1 - unwound(work);

t.test('near the end of the stack', async (t) => {
  const { memory: env } = await worlds(t);
  for (const [what, tree] of Object.entries(deep)) {
    const program = programOf(tree, 2, 0);
    const run = () => program.run(env, new Meter(UNMETERED));
    const isWhole = (): boolean => {
      const { result, variables } = run();
      if (result instanceof EvaluationFailure && OVERFLOW.test(result.message)) return false;
      shownVariables(variables());
      return true;
    };
    isWhole();
    const frames = framesOf(isWhole);
    t.ok(frames >= 0 && frames < FRAMES_MAX, `${what}: ${frames} frames`);
  }
});
