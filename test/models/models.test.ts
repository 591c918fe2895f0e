/** The short form of `npm run test:models`: fewer heights, and every mutation. */
import t from 'tap';
import { models } from './models.ts';
import { mutations } from './mutations.ts';

for (const { name, heights, run } of models) {
  const [, short] = heights;
  if (short === undefined) continue;
  t.test(`${name}, heights to ${short}`, async (t) => {
    const { states, problem, schedule } = run(short);
    t.equal(problem, undefined, schedule.join('\n'));
    t.ok(states > 1000, `${states} states`);
  });
}

for (const { model, name, run } of mutations) {
  t.test(`${model} fails where ${name}`, async (t) => {
    const { problem, schedule } = run();
    t.type(problem, 'string');
    t.ok(schedule.length > 0 && schedule.every((line) => line !== ''), schedule.join('\n'));
  });
}
