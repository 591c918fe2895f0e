// Whole networks on virtual time, from seeds: fixed ones that must stay good, and one that nobody
// has seen. `npm run sim -- <seed> --seconds 2000 --count 30` is the long form.
import t from 'tap';
import { simulate } from './simulate.ts';

const SECONDS = 600;
const NODES = 5;
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
const fresh = Math.floor(Math.random() * 2 ** 31);

async function good(seed: number) {
  try {
    return await simulate({ seed, seconds: SECONDS, nodes: NODES });
  } catch (error) {
    const replay = `npm run sim -- ${seed} --seconds ${SECONDS} --nodes ${NODES} --trace`;
    throw new Error(`seed ${seed} failed, replay with: ${replay}`, { cause: error });
  }
}

for (const seed of SEEDS) {
  t.test(`seed ${seed}`, async (t) => {
    const { height, accepted } = await good(seed);
    t.ok(height > 20, `${height} blocks`);
    t.ok(accepted > 50, `${accepted} transactions`);
  });
}

t.test(`a fresh seed: ${fresh}`, async (t) => {
  t.comment(`npm run sim -- ${fresh} --seconds ${SECONDS} --nodes ${NODES}`);
  await good(fresh);
});

t.test('the same seed gives the same run', async (t) => {
  t.same(await good(1), await good(1));
});
