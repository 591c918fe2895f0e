/** What is searched for: the dearest input of one part of the node. */
import type { Vocabulary } from './mutation.ts';
import type { Bounds, Recipe } from './recipe.ts';

export interface Problem extends Bounds {
  /** `part/form`. */
  readonly name: string;
  readonly vocabulary: Vocabulary;
  /** Where the search begins: what is known to be dear, and what is ordinary. */
  readonly seeds: readonly Recipe[];
  /**
   * What is to be measured, or undefined where this text does not get so far. Preparations come
   * before, so that each call does all the work again.
   */
  readonly prepare: (text: string) => Work | undefined | Promise<Work | undefined>;
}

/** Its time is multiplied by a number that it returns. */
export type Work = () => unknown;
