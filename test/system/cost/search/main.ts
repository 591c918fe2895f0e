/**
 * `npm run test:cost:search -- [--problem=NAME] [--seconds=60] [--seed=1] [--deadline=3000]`: looks
 * for the dearest input of each problem, or of those whose name begins so, and prints what it
 * finds. The seed chooses the changes; which of them are kept is a matter of measured time.
 */
import { parseArgs } from 'node:util';
import { climb } from './climb.ts';
import { problemsOf } from './problems.ts';
import { recipeText, textOf } from './recipe.ts';
import { createTrials } from './trials.ts';

const { values } = parseArgs({
  options: {
    problem: { type: 'string', default: '' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    deadline: { type: 'string', default: '3000' },
    elite: { type: 'string', default: '1' },
  },
});
const deadlineMs = Number(values.deadline);

for (const problem of await problemsOf(values.problem)) {
  const trials = createTrials(problem.name, deadlineMs);
  const until = performance.now() + 1000 * Number(values.seconds);
  let count = 0;
  const found = await climb(problem, (text) => trials.cost(text), {
    seed: Number(values.seed),
    isOver(dearest, tries) {
      count = tries;
      return (dearest?.score ?? 0) >= deadlineMs || performance.now() > until;
    },
    improved: ({ score }, tries) => {
      if (process.stderr.isTTY) process.stderr.write(`\r${problem.name} ${score} ms, ${tries}  `);
    },
  });
  trials.end();
  for (const { recipe, score } of found.slice(0, Number(values.elite))) {
    const { length } = textOf(recipe);
    console.log(
      `${problem.name}: ${score.toFixed(1)} ms after ${count} tries, ${length} characters`,
    );
    console.log(`  ${recipeText(recipe)}`);
  }
}
// A whole node may be among what the problems have prepared.
process.exit();
