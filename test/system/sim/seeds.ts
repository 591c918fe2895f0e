/** Runs of the simulator as tests, each with the command that replays it. */
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
