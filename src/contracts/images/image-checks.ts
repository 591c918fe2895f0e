/**
 * Checks of the images of updates (107). An image may have to be fetched, which takes longer than a
 * round, so a check goes on after the block that began it, and a later block takes its result.
 */
import { fromLatin1 } from '../../base/bytes.ts';
import { roundLimits as limits } from '../../base/limits/round-limits.ts';
import type { Containers, ContractFailure, ContractImage } from '../../base/ports/containers.ts';
import { base58 } from '../../codec/text.ts';
import { Counts } from '../../concurrency/counts.ts';
import { imageKey } from './image-loads.ts';

export interface ImageChecks {
  /**
   * Begins the check, or joins the one under way; the same image is checked once, in the turn of the
   * creator (Latin-1 text) who asked first. `busy`: it has to wait for a later block.
   */
  check(image: ContractImage, creator: string): Promise<ContractFailure | undefined> | 'busy';
}

/** Checks under way at once, and those of one creator. */
export const CHECKS_MAX = limits.checks.value;
export const CHECKS_OF_ONE_MAX = limits.checksOfOne.value;

export function createImageChecks({ checkImage }: Pick<Containers, 'checkImage'>): ImageChecks {
  const underWay = new Map<string, Promise<ContractFailure | undefined>>();
  const byCreator = new Counts<string>();
  return {
    check(image, creator) {
      const key = imageKey(image);
      const known = underWay.get(key);
      if (known !== undefined) return known;
      if (underWay.size >= CHECKS_MAX) return 'busy';
      if (byCreator.of(creator) >= CHECKS_OF_ONE_MAX) return 'busy';
      byCreator.add(creator, 1);
      const check = checkImage(image, base58.encode(fromLatin1(creator))).finally(() => {
        underWay.delete(key);
        byCreator.add(creator, -1);
      });
      underWay.set(key, check);
      return check;
    },
  };
}
