/**
 * The images that this node has fetched, in a file, so that it knows them after a crash: only these
 * count for the quota, and only these are ever removed. One is noted before its pull begins.
 */
import { isObject } from '../../../base/json/json.ts';
import { contractLimits } from '../../../base/limits/contract-limits.ts';
import { files } from '../../files.ts';

export interface PulledImage {
  /** Full name under which a contract has asked for it. */
  readonly name: string;
  /** Id in the engine, without `sha256:`; no other image has the same. */
  readonly hash: string;
  /** Name with the digest by which the engine has fetched it. */
  readonly reference: string;
  /** Creator of the contract that first asked for it. */
  readonly creator: string;
  readonly bytes: number;
}

export interface PulledImages {
  /** True where the registry has given this image under this name. */
  has(name: string, hash: string): boolean;
  /** It is in use: others of its creator are removed before. */
  use(hash: string): void;
  /** Replaces the note of the same image. Throws where the disk refuses the note. */
  note(image: PulledImage): void;
  forget(image: PulledImage): void;
  total(measure: Measure): number;
  totalOf(creator: string, measure: Measure): number;
  /**
   * In the order in which they make room: of the creator with most first, and of one creator, that used
   * longest ago.
   */
  inOrder(measure: Measure): readonly PulledImage[];
}

/** What creators share: the disk, or the number of images. */
export type Measure = 'bytes' | 'count';

export const amountOf = ({ bytes }: PulledImage, measure: Measure): number =>
  measure === 'bytes' ? bytes : 1;

export const PULLED_MAX = contractLimits.pulledImages.value;

/** `onUnreadable` learns that the file is damaged; what it named then belongs to the operator. */
export function openPulledImages(path: string, onUnreadable: (why: string) => void): PulledImages {
  /** The one used last comes last. */
  const images = new Map<string, PulledImage>();
  for (const image of read(path, onUnreadable)) images.set(image.hash, image);

  const save = (): void => {
    files.replace(path, Buffer.from(`${JSON.stringify([...images.values()], undefined, 1)}\n`));
  };

  /** By creator. */
  function totals(measure: Measure): Map<string, number> {
    const all = new Map<string, number>();
    for (const image of images.values()) {
      all.set(image.creator, (all.get(image.creator) ?? 0) + amountOf(image, measure));
    }
    return all;
  }

  return {
    has: (name, hash) => images.get(hash)?.name === name,
    use(hash) {
      const image = images.get(hash);
      if (image === undefined) return;
      images.delete(hash);
      images.set(hash, image);
    },
    note(image) {
      images.delete(image.hash);
      images.set(image.hash, image);
      save();
    },
    forget(image) {
      images.delete(image.hash);
      save();
    },
    total: (measure) => [...totals(measure).values()].reduce((sum, amount) => sum + amount, 0),
    totalOf: (creator, measure) => totals(measure).get(creator) ?? 0,
    inOrder(measure) {
      const amounts = totals(measure);
      const of = ({ creator }: PulledImage): number => amounts.get(creator) ?? 0;
      return [...images.values()].sort((a, b) => of(b) - of(a));
    },
  };
}

function read(path: string, onUnreadable: (why: string) => void): PulledImage[] {
  const bytes = files.read(path);
  if (bytes === undefined) return [];
  try {
    const list: unknown = JSON.parse(Buffer.from(bytes).toString());
    if (Array.isArray(list) && list.every(isPulled)) return list;
    throw new Error('it is no list of images');
  } catch (cause) {
    onUnreadable((cause as Error).message);
    return [];
  }
}

const isPulled = (one: unknown): one is PulledImage =>
  isObject(one) &&
  [one['name'], one['hash'], one['reference'], one['creator']].every(
    (x) => typeof x === 'string',
  ) &&
  typeof one['bytes'] === 'number';
