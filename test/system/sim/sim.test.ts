// A new random seed passes like the fixed ones (seeds.test.ts), and so does one with a rare course.
import t from 'tap';
import { good, MS_PER_SEED_MAX, NODES, SECONDS } from './seeds.ts';

t.setTimeout(3 * MS_PER_SEED_MAX);

const fresh = Math.floor(Math.random() * 2 ** 31);

t.test(`a fresh seed: ${fresh}`, async (t) => {
  t.comment(`npm run sim -- ${fresh} --seconds ${SECONDS} --nodes ${NODES}`);
  const { height } = await good(fresh);
  t.ok(height > 1, `${height} blocks`);
});

// A member does not get the block that removes it, and makes blocks alone. Somebody registers it again
// before these are more than it could take back.
t.test('seed 48', async (t) => {
  const { kind, height, unaware } = await good(48, 2_000);
  t.ok(height > 60, `${kind}: ${height} blocks`);
  t.ok(unaware > 0, `registered again ${unaware} times`);
});
