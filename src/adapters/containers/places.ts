/**
 * What the node knows of each image and interface that calls have asked for: its container where it
 * has one, and what went wrong where it has none.
 */
import { contractLimits } from '../../base/limits/contract-limits.ts';
import type { ContractFailure, ContractImage } from '../../base/ports/containers.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';
import type { Container } from './container.ts';

export interface Place {
  readonly key: string;
  readonly image: ContractImage;
  readonly createVersion: number;
  /** Whose contracts use it; of several, the creator with the fewest containers. */
  creator: string;
  /** Calls that may run at a time. */
  readonly slots: Semaphore;
  /** Calls that run or wait. */
  running: number;
  usedAt: number;
  /** Ends the search for the image, or the start, that is under way. */
  start: AbortController | undefined;
  /** True once the engine has had the image. */
  isLocal: boolean;
  container: Container | undefined;
  /** When the container was ready. */
  readyAt: number;
  /** True while a container of it starts. */
  isStarting: boolean;
  /** True once a call has ended well in the container. */
  hasServed: boolean;
  /** The failure of the last start; it is reported once. */
  failure: ContractFailure | undefined;
  /** Since when the engine has lacked addresses or space for it. */
  shortSince: number | undefined;
  /** No start before this time, and the pause after the next failure. */
  notBefore: number;
  pauseMs: number;
}

const PLACES_MAX = contractLimits.images.value;
const STAY_MS = contractLimits.stay.value;
const PAUSE_MS_MIN = contractLimits.startPause.value;
const PAUSE_MS_MAX = contractLimits.startPauseMax.value;

export class Places {
  readonly #perContainerMax: number;
  readonly #now: () => number;
  readonly #places = new Map<string, Place>();

  constructor(perContainerMax: number, now: () => number) {
    this.#perContainerMax = perContainerMax;
    this.#now = now;
  }

  /** Makes the place where it is missing. `creator`: who asks; absent for a call. */
  of(image: ContractImage, createVersion: number, creator?: string): Place {
    const key = keyOf(image, createVersion);
    const known = this.#places.get(key);
    if (known !== undefined) return this.#share(known, creator);
    const place: Place = {
      key,
      image,
      createVersion,
      creator: creator ?? '',
      slots: new Semaphore(this.#perContainerMax),
      running: 0,
      usedAt: this.#now(),
      notBefore: 0,
      pauseMs: PAUSE_MS_MIN,
      start: undefined,
      isLocal: false,
      container: undefined,
      readyAt: 0,
      isStarting: false,
      hasServed: false,
      failure: undefined,
      shortSince: undefined,
    };
    this.#places.set(key, place);
    return place;
  }

  /**
   * False where too many others are known, all of them in use, or with a failure that has to be told
   * or lasts. Those of the creator with the most give way to one that has fewer.
   */
  hasRoom(image: ContractImage, createVersion: number, creator: string): boolean {
    const isKnown = this.#places.has(keyOf(image, createVersion));
    if (this.#places.size < PLACES_MAX || isKnown) return true;
    const place = this.#leaving(creator);
    if (place !== undefined) this.remove(place);
    return place !== undefined;
  }

  /** False where the place was removed. */
  has(place: Place): boolean {
    return this.#places.get(place.key) === place;
  }

  remove({ key }: Place): void {
    this.#places.delete(key);
  }

  all(): readonly Place[] {
    return [...this.#places.values()];
  }

  /**
   * Containers of a creator, those included that start, and the number of creators that have any, or
   * would have.
   */
  held(creator: string): { readonly own: number; readonly creators: number } {
    const counts = countsOf(this.all().filter(takesRoom));
    const own = counts.get(creator) ?? 0;
    return { own, creators: counts.size + (own > 0 ? 0 : 1) };
  }

  /**
   * The place whose container gives way to one of this creator: that of the creator with the most, of
   * its own where nobody has more; of these the one that has been idle longest. Unless the other has
   * two more, its container has been there for a while: each start costs the machine much, and others
   * wait for its processors.
   */
  yielding(creator: string): Place | undefined {
    const counts = countsOf(this.all().filter(takesRoom));
    const isIdle = ({ container, running }: Place): boolean =>
      container !== undefined && running === 0;
    const countOf = (place: Place): number => counts.get(place.creator)!;
    const idle = this.all().filter(isIdle);
    const own = counts.get(creator) ?? 0;
    const most = Math.max(0, ...idle.map(countOf));
    if (most > own + 1) return oldest(idle.filter((place) => countOf(place) === most));
    const latest = this.#now() - STAY_MS;
    const isLeaving = (place: Place): boolean =>
      most > own ? countOf(place) === most : place.creator === creator;
    return oldest(idle.filter((place) => place.readyAt <= latest && isLeaving(place)));
  }

  #leaving(creator: string): Place | undefined {
    const time = this.#now();
    const unused = this.all().filter(isUnused);
    const isOver = ({ failure, notBefore }: Place): boolean =>
      failure === undefined && notBefore <= time;
    const over = oldest(unused.filter(isOver));
    if (over !== undefined) return over;
    const counts = countsOf(this.all());
    const countOf = (place: Place): number => counts.get(place.creator)!;
    const most = Math.max(0, ...unused.map(countOf));
    if (most <= (counts.get(creator) ?? 0) + 1) return undefined;
    return oldest(unused.filter((place) => countOf(place) === most));
  }

  /** Anybody may use the image of another. Its container counts for the one who has fewer. */
  #share(place: Place, creator: string | undefined): Place {
    if (creator === undefined || creator === place.creator) return place;
    const counts = countsOf(this.all().filter(takesRoom));
    if ((counts.get(creator) ?? 0) < (counts.get(place.creator) ?? 0)) place.creator = creator;
    return place;
  }
}

const keyOf = (image: ContractImage, createVersion: number): string =>
  `${createVersion} ${nameOf(image)}`;

/** Contracts may write the digits of a hash in either case. */
const nameOf = ({ image, imageHash }: ContractImage): string =>
  `${imageHash.toLowerCase()} ${image}`;

export const isSameImage = (one: ContractImage, other: ContractImage): boolean =>
  nameOf(one) === nameOf(other);

const oldest = (places: readonly Place[]): Place | undefined =>
  places.toSorted((a, b) => a.usedAt - b.usedAt)[0];

/** How many of the places each creator has. */
function countsOf(places: readonly Place[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { creator } of places) counts.set(creator, (counts.get(creator) ?? 0) + 1);
  return counts;
}

const takesRoom = ({ container, isStarting }: Place): boolean =>
  container !== undefined || isStarting;

const isUnused = ({ container, start, running }: Place): boolean =>
  container === undefined && start === undefined && running === 0;

/** After a failed start, or an end that nobody asked for. */
export function postpone(place: Place, now: number): void {
  place.notBefore = now + place.pauseMs;
  place.pauseMs = Math.min(2 * place.pauseMs, PAUSE_MS_MAX);
}

/** A call has ended as it should. */
export function hasServed(place: Place): void {
  place.hasServed = true;
  place.pauseMs = PAUSE_MS_MIN;
}
