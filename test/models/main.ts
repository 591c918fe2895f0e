// The models in full, then each mutation with its schedule: `npm run test:models [-- --only=B]`.
import { parseArgs } from 'node:util';
import { models } from './models.ts';
import { mutations } from './mutations.ts';
import type { Findings } from './search.ts';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
let failed = 0;

function tell(name: string, isGood: boolean, { states, problem, schedule }: Findings, ms: number) {
  if (!isGood) failed++;
  console.log(`${isGood ? 'ok  ' : 'FAIL'} ${name}: ${states} states, ${(ms / 1000).toFixed(1)} s`);
  for (const line of [...schedule, ...(problem === undefined ? [] : [`Then ${problem}.`])]) {
    console.log(`       ${line}`);
  }
}

function timed(run: () => Findings): [Findings, number] {
  const start = performance.now();
  return [run(), performance.now() - start];
}

let letter = '';
for (const { name, heights, run } of models) {
  if (/^[A-E]:/.test(name)) letter = name[0]!;
  if (!letter.startsWith(values.only)) continue;
  const [findings, ms] = timed(() => run(heights[0]));
  tell(`${name}, heights to ${heights[0]}`, findings.problem === undefined, findings, ms);
}
console.log('\nMutations, each of which a model must find:\n');
for (const { model, name, run } of mutations) {
  if (!model.startsWith(values.only)) continue;
  const [findings, ms] = timed(run);
  tell(`${model}: ${name}`, findings.problem !== undefined, findings, ms);
}
process.exitCode = failed === 0 ? 0 : 1;
