/** Runs of the simulator as tests, each with the command that replays it. */
import type { Test } from 'tap';
import { type SimOptions, type SimResult, simulate } from './simulate.ts';

export const SECONDS = 600;
export const NODES = 5;
/** For one seed on a slow machine with other things to do. */
export const MS_PER_SEED_MAX = 300_000;

export async function good(seed: number, seconds = SECONDS): Promise<SimResult> {
  const options: SimOptions = { seed, seconds, nodes: NODES };
  try {
    return await simulate(options);
  } catch (error) {
    const replay = `npm run sim -- ${seed} --seconds ${seconds} --nodes ${NODES} --trace`;
    throw new Error(`seed ${seed} failed, replay with: ${replay}`, { cause: error });
  }
}

/** Fixed seeds that must stay good. */
export function fixedSeeds(t: Test, first: number, last: number): void {
  t.setTimeout((last - first + 1) * MS_PER_SEED_MAX);
  for (let seed = first; seed <= last; seed++) {
    t.test(`seed ${seed}`, async (t) => {
      const { kind, height, accepted, judged, scripts, unsigned } = await good(seed);
      t.ok(height > 20, `${kind}: ${height} blocks`);
      t.ok(judged >= height - 1, `${judged} judged by a cold validator`);
      t.ok(accepted > 100, `${accepted} transactions`);
      t.ok(scripts > 5 && unsigned > 5, `${unsigned} unsigned around ${scripts} scripts`);
    });
  }
}
