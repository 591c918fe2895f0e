/**
 * Lists of one branch of the chain. A list is read by several statements and may wait for its place
 * between them, so blocks may be removed meanwhile. Times of removals only grow: where the last one
 * is the same before and after, the tip and all rows are of one branch.
 */
import { apiError } from '../../base/errors.ts';
import { REMOVED_AT } from '../stream/chain-place.ts';
import { rows, type StoreTip, tipOf } from './reading.ts';
import type { DataServices } from './services.ts';

const ATTEMPTS_MAX = 3;

/** Reads again what a removal of blocks has interrupted. Rejects with ApiError. */
export async function ofOneBranch<T>(
  services: DataServices,
  read: (tip: StoreTip) => Promise<T>,
): Promise<T> {
  for (let i = 0; i < ATTEMPTS_MAX; i++) {
    const before = await removedAt(services);
    const found = await read(await tipOf(services));
    if ((await removedAt(services)) === before) return found;
  }
  throw apiError('DataUnavailable', 'The chain is being reorganised');
}

async function removedAt(services: DataServices): Promise<string> {
  const [found] = await rows<{ at: string }>(services, `SELECT ${REMOVED_AT} AS at`);
  return found!.at;
}
