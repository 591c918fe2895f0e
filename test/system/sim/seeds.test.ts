// Fixed seeds that must stay good, and the same seed gives the same run, to the last line of its trace.
// SIM_SEEDS sets how many there are; without it a few are chosen.
import t from 'tap';
import { good, MS_PER_SEED_MAX } from './seeds.ts';
import type { SimResult } from './simulate.ts';

const ASKED = process.env['SIM_SEEDS'];
/** Both kinds of consensus with and without roles that come and go, a liar, and each kind of last member. */
const CHOSEN = [1, 2, 3, 6, 12];
const SEEDS = ASKED === undefined ? CHOSEN : Array.from({ length: Number(ASKED) }, (_, i) => i + 1);
const runs = new Map<number, SimResult>();

t.setTimeout((SEEDS.length + 1) * MS_PER_SEED_MAX);

for (const seed of SEEDS) {
  t.test(`seed ${seed}`, async (t) => {
    const run = await good(seed);
    runs.set(seed, run);
    const { kind, height, accepted, judged, scripts, unsigned } = run;
    t.ok(height > 20, `${kind}: ${height} blocks`);
    t.ok(judged >= height - 1, `${judged} judged by a cold validator`);
    t.ok(accepted > 100, `${accepted} transactions`);
    t.ok(scripts > 5 && unsigned > 5, `${unsigned} unsigned around ${scripts} scripts`);
  });
}

t.test('the same seed gives the same run', async (t) => {
  const first = runs.get(1)!;
  t.same(await good(1), first);
  const { inChain, creations, calls } = first.contractGroups;
  t.ok(inChain > 5 && creations > 0 && calls > 5, `${inChain} atomic transactions with contracts`);
  t.equal(
    new Set([...runs.values()].map(({ trace }) => trace)).size,
    SEEDS.length,
    'and another one its own',
  );
});
