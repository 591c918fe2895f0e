/**
 * What the node knows of each image and interface that calls have asked for: its container where it
 * has one, and what went wrong where it has none.
 */
import type { ContractFailure, ContractImage } from '../../base/containers.ts';
import { contractLimits } from '../../base/contract-limits.ts';
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
  /** Of the last start; it is told once. */
  failure: ContractFailure | undefined;
  /** Since when the engine has lacked addresses or space for it. */
  shortSince: number | undefined;
  /** No start before this time, and the pause after the next failure. */
  notBefore: number;
  pauseMs: number;
}

export interface Places {
  /** Makes the place where it is missing. `creator`: who asks; absent for a call. */
  of(image: ContractImage, createVersion: number, creator?: string): Place;
  /**
   * False where too many others are known, all of them in use, or with a failure that has to be told
   * or lasts. Those of the creator with the most give way to one that has fewer.
   */
  hasRoom(image: ContractImage, createVersion: number, creator: string): boolean;
  /** False where the place was removed. */
  has(place: Place): boolean;
  remove(place: Place): void;
  all(): readonly Place[];
  /**
   * Containers of a creator, those included that start, and the number of creators that have any, or
   * would have.
   */
  held(creator: string): { readonly own: number; readonly creators: number };
  /**
   * The place whose container gives way to one of this creator: that of the creator with the most, of
   * its own where nobody has more; of these the one that has been idle longest. Unless the other has
   * two more, its container has been there for a while: each start costs the machine much, and others
   * wait for its processors.
   */
  yielding(creator: string): Place | undefined;
}

const PLACES_MAX = contractLimits.images.value;
const STAY_MS = contractLimits.stay.value;
const PAUSE_MS_MIN = contractLimits.startPause.value;
const PAUSE_MS_MAX = contractLimits.startPauseMax.value;

export function createPlaces(perContainerMax: number, now: () => number): Places {
  const places = new Map<string, Place>();
  const oldest = (which: (place: Place) => boolean): Place | undefined =>
    [...places.values()].filter(which).sort((a, b) => a.usedAt - b.usedAt)[0];

  function countByCreator(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { creator, container, isStarting } of places.values()) {
      if (container === undefined && !isStarting) continue;
      counts.set(creator, (counts.get(creator) ?? 0) + 1);
    }
    return counts;
  }

  const keyOf = ({ image, imageHash }: ContractImage, createVersion: number): string =>
    `${createVersion} ${imageHash.toLowerCase()} ${image}`;

  function giveWay(creator: string): Place | undefined {
    const time = now();
    const isOver = (place: Place): boolean =>
      isUnused(place) && place.failure === undefined && place.notBefore <= time;
    const unused = oldest(isOver);
    if (unused !== undefined) return unused;
    const counts = new Map<string, number>();
    for (const { creator: of } of places.values()) counts.set(of, (counts.get(of) ?? 0) + 1);
    const countOf = (place: Place): number => counts.get(place.creator)!;
    const most = Math.max(0, ...[...places.values()].filter(isUnused).map(countOf));
    if (most <= (counts.get(creator) ?? 0) + 1) return undefined;
    return oldest((place) => isUnused(place) && countOf(place) === most);
  }

  /** Anybody may use the image of another. Its container counts for the one who has fewer. */
  function share(place: Place, creator: string | undefined): Place {
    if (creator === undefined || creator === place.creator) return place;
    const counts = countByCreator();
    if ((counts.get(creator) ?? 0) < (counts.get(place.creator) ?? 0)) place.creator = creator;
    return place;
  }

  return {
    of(image, createVersion, creator) {
      const key = keyOf(image, createVersion);
      const known = places.get(key);
      if (known !== undefined) return share(known, creator);
      const place: Place = {
        ...{ key, image, createVersion, creator: creator ?? '' },
        slots: new Semaphore(perContainerMax),
        ...{ running: 0, usedAt: now(), notBefore: 0, pauseMs: PAUSE_MS_MIN },
        ...{ start: undefined, isLocal: false, container: undefined, readyAt: 0 },
        ...{ isStarting: false, hasServed: false, failure: undefined, shortSince: undefined },
      };
      places.set(key, place);
      return place;
    },
    hasRoom(image, createVersion, creator) {
      if (places.size < PLACES_MAX || places.has(keyOf(image, createVersion))) return true;
      const place = giveWay(creator);
      if (place !== undefined) places.delete(place.key);
      return place !== undefined;
    },
    has: (place) => places.get(place.key) === place,
    remove: (place) => void places.delete(place.key),
    all: () => [...places.values()],
    held(creator) {
      const counts = countByCreator();
      const own = counts.get(creator) ?? 0;
      return { own, creators: counts.size + (own > 0 ? 0 : 1) };
    },
    yielding(creator) {
      const counts = countByCreator();
      const isIdle = ({ container, running }: Place): boolean =>
        container !== undefined && running === 0;
      const countOf = (place: Place): number => counts.get(place.creator)!;
      const idle = [...places.values()].filter(isIdle);
      const own = counts.get(creator) ?? 0;
      const most = Math.max(0, ...idle.map(countOf));
      if (most > own + 1) return oldest((place) => isIdle(place) && countOf(place) === most);
      const latest = now() - STAY_MS;
      const isLeaving = (place: Place): boolean =>
        most > own ? countOf(place) === most : place.creator === creator;
      return oldest((place) => isIdle(place) && place.readyAt <= latest && isLeaving(place));
    },
  };
}

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
