/**
 * All endpoints of the node, with the groups in alphabetical order. The typed endpoints are in the
 * files of the groups.
 */
import type { AnyRoute } from '../../rest-framework/route.ts';
import type { Services } from '../services.ts';
import * as groups from './all.ts';

export const routes: readonly AnyRoute<Services>[] = Object.values(groups).flatMap(
  (group): readonly AnyRoute<Services>[] => Object.values(group),
);
