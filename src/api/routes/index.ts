/** Every endpoint of the node, group by group in alphabetical order; typed ones are in their files. */
import type { AnyRoute } from '../route.ts';
import * as groups from './all.ts';

export const routes: readonly AnyRoute[] = Object.values(groups).flatMap(
  (group): readonly AnyRoute[] => Object.values(group),
);
