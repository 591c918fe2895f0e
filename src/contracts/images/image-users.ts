/** Which contracts have run on which image, so that a container goes when its last contract has. */
import type { ContractImage } from '../../base/ports/containers.ts';
import { imageKey } from './image-loads.ts';

export interface ImageUsers {
  ran(contract: string, image: ContractImage): void;
  /** The contract has ended or has a new image. Returns an image that no contract uses any more. */
  left(contract: string): ContractImage | undefined;
}

/** Images beyond this are forgotten; their containers go when they have been idle for long. */
const KNOWN_MAX = 10_000;

export function createImageUsers(): ImageUsers {
  const images = new Map<string, ContractImage>();
  const users = new Map<string, Set<string>>();
  return {
    ran(contract, image) {
      const known = images.get(contract);
      if (known !== undefined && imageKey(known) === imageKey(image)) return;
      if (images.size >= KNOWN_MAX) {
        images.clear();
        users.clear();
      }
      images.set(contract, image);
      const key = imageKey(image);
      const others = users.get(key);
      if (others === undefined) users.set(key, new Set([contract]));
      else others.add(contract);
    },
    left(contract) {
      const image = images.get(contract);
      if (image === undefined) return undefined;
      images.delete(contract);
      const key = imageKey(image);
      const others = users.get(key);
      others?.delete(contract);
      if (others !== undefined && others.size > 0) return undefined;
      users.delete(key);
      return image;
    },
  };
}
