/**
 * Checks of the images of updates (107). An image may have to be fetched, which takes longer than a
 * round, so a check goes on after the block that began it, and a later block takes its result.
 */
import type { Containers, ContractFailure, ContractImage } from '../base/containers.ts';
import { imageKey } from './image-loads.ts';

export interface ImageChecks {
  /** Begins the check, or joins the one under way; the same image is checked once. */
  check(image: ContractImage): Promise<ContractFailure | undefined>;
}

/** Checks under way at once; further ones wait for a later block. */
const CHECKS_MAX = 8;

const BUSY: ContractFailure = {
  kind: 'failure',
  message: 'Too many images are being checked',
  recoverable: true,
  system: true,
};

export function createImageChecks({ checkImage }: Pick<Containers, 'checkImage'>): ImageChecks {
  const underWay = new Map<string, Promise<ContractFailure | undefined>>();
  return {
    check(image) {
      const key = imageKey(image);
      const known = underWay.get(key);
      if (known !== undefined) return known;
      if (underWay.size >= CHECKS_MAX) return Promise.resolve(BUSY);
      const check = checkImage(image).finally(() => underWay.delete(key));
      underWay.set(key, check);
      return check;
    },
  };
}
