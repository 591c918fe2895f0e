/**
 * Hill climbing: changes what was dearest so far, and keeps what is dearer. A few good recipes live
 * side by side, since the dearest one may have no dearer neighbour.
 */
import { createHash } from 'node:crypto';
import { Rng } from '../../../generators/random.ts';
import { mutated } from './mutation.ts';
import type { Problem } from './problem.ts';
import { fitted, type Recipe, textOf } from './recipe.ts';

export interface Scored {
  readonly recipe: Recipe;
  readonly score: number;
}

export interface ClimbOptions {
  readonly seed: number;
  /** Of which recipes are changed. */
  readonly eliteMax?: number;
  /** True where the search is over. */
  readonly isOver: (dearest: Scored | undefined, tries: number) => boolean;
  readonly improved?: (found: Scored, tries: number) => void;
}

const ELITE = 12;
/** One try in so many begins anew from a seed. */
const ANEW = 8;

/** The best recipes, the dearest first. `cost` is 0 where the input does not get so far. */
export async function climb(
  { seeds, vocabulary, ...bounds }: Omit<Problem, 'name' | 'prepare'>,
  cost: (text: string) => Promise<number> | number,
  { seed, eliteMax = ELITE, isOver, improved }: ClimbOptions,
): Promise<readonly Scored[]> {
  const rng = new Rng(seed);
  const seen = new Set<string>();
  const elite: Scored[] = [];
  let tries = 0;

  async function attempt(candidate: Recipe): Promise<void> {
    const recipe = fitted(candidate, bounds);
    if (recipe === undefined) return;
    const text = textOf(recipe);
    // Texts may be long and many.
    const name = createHash('sha1').update(text).digest('base64');
    if (seen.has(name)) return;
    seen.add(name);
    const found = { recipe, score: await cost(text) };
    const dearest = elite[0]?.score ?? 0;
    const at = elite.findIndex(({ score }) => score < found.score);
    if (at !== -1) elite.splice(at, 0, found);
    else elite.push(found);
    elite.length = Math.min(elite.length, eliteMax);
    if (found.score > dearest) improved?.(found, tries);
  }

  for (const recipe of seeds) await attempt(recipe);
  while (!isOver(elite[0], tries)) {
    tries++;
    const known = elite.length === 0 ? seeds : elite.map(({ recipe }) => recipe);
    const from = rng.pick(rng.chance(ANEW) ? seeds : known);
    await attempt(mutated(from, rng.pick(known), vocabulary, rng));
  }
  return elite;
}
