/** How many runs each image has at once: a container takes no more than the settings allow. */
import type { ContractImage } from '../base/containers.ts';

export const imageKey = ({ image, imageHash }: ContractImage): string =>
  `${imageHash.toLowerCase()} ${image}`;

export interface ImageLoad<Line> {
  /** True where the container takes no more runs. */
  readonly isFull: boolean;
  begin(): void;
  end(): void;
  wait(line: Line, owner: string): void;
  /** The line whose turn it is; owners take turns, since anybody may use the image of another. */
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
  /** By owner; the first one has the turn. */
  const waiting = new Map<string, Line[]>();
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
    wait(line, owner) {
      const lines = waiting.get(owner);
      if (lines === undefined) waiting.set(owner, [line]);
      else lines.push(line);
    },
    next() {
      const [first] = waiting;
      if (first === undefined) return undefined;
      const [owner, lines] = first;
      const line = lines.shift();
      waiting.delete(owner);
      if (lines.length > 0) waiting.set(owner, lines);
      return line;
    },
  };
}
