/** How many runs each image has at once: a container takes no more than the settings allow. */
import type { ContractImage } from '../../base/ports/containers.ts';

export const imageKey = ({ image, imageHash }: ContractImage): string =>
  `${imageHash.toLowerCase()} ${image}`;

export interface ImageLoad<Queue> {
  /** True where the container takes no more runs. */
  readonly isFull: boolean;
  begin(): void;
  end(): void;
  wait(queue: Queue, owner: string): void;
  /** The queue whose turn it is; owners take turns, since anybody may use the image of another. */
  next(): Queue | undefined;
}

/** `perContainer` is the number of runs that one container may have at once. */
export function createImageLoads<Queue>(
  perContainer: number,
): (image: ContractImage) => ImageLoad<Queue> {
  const loads = new Map<string, ImageLoad<Queue>>();
  return (image) => {
    const key = imageKey(image);
    let load = loads.get(key);
    if (load === undefined) {
      load = createLoad(perContainer);
      loads.set(key, load);
    }
    return load;
  };
}

function createLoad<Queue>(most: number): ImageLoad<Queue> {
  let running = 0;
  /** By owner; the first one has the turn. */
  const waiting = new Map<string, Queue[]>();
  return {
    get isFull() {
      return running >= most;
    },
    begin() {
      running++;
    },
    end() {
      running--;
    },
    wait(queue, owner) {
      const queues = waiting.get(owner);
      if (queues === undefined) waiting.set(owner, [queue]);
      else queues.push(queue);
    },
    next() {
      const [first] = waiting;
      if (first === undefined) return undefined;
      const [owner, queues] = first;
      const queue = queues.shift();
      waiting.delete(owner);
      if (queues.length > 0) waiting.set(owner, queues);
      return queue;
    },
  };
}
