/** How many runs each image has at once: a container takes no more than the settings allow. */
import type { ContractImage } from '../base/containers.ts';

export const imageKey = ({ image, imageHash }: ContractImage): string =>
  `${imageHash.toLowerCase()} ${image}`;

export interface ImageLoad<Line> {
  /** True where the container takes no more runs. */
  readonly isFull: boolean;
  begin(): void;
  end(): void;
  wait(line: Line): void;
  /** The line that has waited longest for the container. */
  next(): Line | undefined;
}

/** `perContainer` is the number of runs that one container may have at once. */
export function createImageLoads<Line>(
  perContainer: number,
): (image: ContractImage) => ImageLoad<Line> {
  const loads = new Map<string, ImageLoad<Line>>();
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

function createLoad<Line>(most: number): ImageLoad<Line> {
  let running = 0;
  let waiting: Line[] = [];
  let at = 0;
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
    wait(line) {
      waiting.push(line);
    },
    next() {
      const line = waiting[at];
      if (line === undefined) return undefined;
      at++;
      if (at === waiting.length) {
        waiting = [];
        at = 0;
      }
      return line;
    },
  };
}
