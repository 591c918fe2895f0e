/**
 * The images that this node has fetched, in a file, so that it knows them after a crash: only these
 * count for the quota, and only these are ever removed. One is noted before its pull begins.
 */
import { contractLimits } from '../../../base/contract-limits.ts';
import { files } from '../../files.ts';
import { isRecord } from '../engine-client.ts';

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
  readonly bytes: number;
  readonly count: number;
  bytesOf(creator: string): number;
  /**
   * In the order in which they make room: of the creator with most bytes first, and of one creator, that
   * used longest ago.
   */
  inOrder(): readonly PulledImage[];
}

export const PULLED_MAX = contractLimits.pulledImages.value;

/** `onUnreadable` learns that the file is damaged; what it named then belongs to the operator. */
export function openPulledImages(path: string, onUnreadable: (why: string) => void): PulledImages {
  /** The one used last comes last. */
  const images = new Map<string, PulledImage>();
  for (const image of read(path, onUnreadable)) images.set(image.hash, image);

  const save = (): void => {
    files.replace(path, Buffer.from(`${JSON.stringify([...images.values()], undefined, 1)}\n`));
  };
  const sum = (which: (image: PulledImage) => boolean): number =>
    [...images.values()].filter(which).reduce((bytes, image) => bytes + image.bytes, 0);
  const bytesOf = (creator: string): number => sum((image) => image.creator === creator);

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
    get bytes() {
      return sum(() => true);
    },
    get count() {
      return images.size;
    },
    bytesOf,
    inOrder() {
      const creators = new Set([...images.values()].map(({ creator }) => creator));
      const bytes = new Map([...creators].map((creator) => [creator, bytesOf(creator)]));
      const of = ({ creator }: PulledImage): number => bytes.get(creator) ?? 0;
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
  isRecord(one) &&
  [one['name'], one['hash'], one['reference'], one['creator']].every(
    (x) => typeof x === 'string',
  ) &&
  typeof one['bytes'] === 'number';
