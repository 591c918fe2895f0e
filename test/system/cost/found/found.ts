/** An input that the search or a reader has found to be dear. */
import type { Recipe } from '../search/recipe.ts';

export interface Found {
  readonly name: string;
  /** Who found it: the problem of the search, with its seed, or a reading of the sources. */
  readonly how: string;
  /**
   * Milliseconds of processor time in one piece at 6007327, on two cores beside other
   * work. 3,000 stands for more.
   */
  readonly beforeMs: number;
  readonly recipe: Recipe;
}
