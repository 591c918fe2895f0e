/**
 * What the node knows of each image and interface that calls have asked for: its container where it
 * has one, and what went wrong where it has none.
 */
import type { ContractFailure, ContractImage } from '../../base/containers.ts';
import { createSlots, type Slots } from '../../base/slots.ts';
import type { Container } from './container.ts';

export interface Place {
  readonly key: string;
  readonly image: ContractImage;
  readonly createVersion: number;
  /** Calls that may run at a time. */
  readonly slots: Slots;
  /** Calls that run or wait. */
  running: number;
  usedAt: number;
  /** Ends the search for the image, or the start, that is under way. */
  start: AbortController | undefined;
  /** True once the engine has had the image. */
  isLocal: boolean;
  container: Container | undefined;
  /** True once a call has ended well in the container. */
  hasServed: boolean;
  /** Of the last start; it is told once. */
  failure: ContractFailure | undefined;
  /** No start before this time, and the pause after the next failure. */
  notBefore: number;
  pauseMs: number;
}

export interface Places {
  /** Makes the place where it is missing. */
  of(image: ContractImage, createVersion: number): Place;
  /** False where the place was removed. */
  has(place: Place): boolean;
  remove(place: Place): void;
  all(): readonly Place[];
  /** The place whose container has been idle longest. */
  idlest(): Place | undefined;
}

const PLACES_MAX = 1000;
const PAUSE_MS_MIN = 1000;
const PAUSE_MS_MAX = 60_000;

export function createPlaces(perContainerMax: number, now: () => number): Places {
  const places = new Map<string, Place>();
  const oldest = (which: (place: Place) => boolean): Place | undefined =>
    [...places.values()].filter(which).sort((a, b) => a.usedAt - b.usedAt)[0];

  return {
    of(image, createVersion) {
      const key = `${createVersion} ${image.imageHash.toLowerCase()} ${image.image}`;
      const known = places.get(key);
      if (known !== undefined) return known;
      if (places.size >= PLACES_MAX) {
        const unused = oldest(isUnused);
        if (unused !== undefined) places.delete(unused.key);
      }
      const place: Place = {
        ...{ key, image, createVersion, slots: createSlots(perContainerMax) },
        ...{ running: 0, usedAt: now(), notBefore: 0, pauseMs: PAUSE_MS_MIN },
        ...{ start: undefined, isLocal: false, container: undefined },
        ...{ hasServed: false, failure: undefined },
      };
      places.set(key, place);
      return place;
    },
    has: (place) => places.get(place.key) === place,
    remove: (place) => void places.delete(place.key),
    all: () => [...places.values()],
    idlest: () => oldest((place) => place.container !== undefined && place.running === 0),
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
