/**
 * All containers of the node: one for each image and interface, started when a call first needs it,
 * used by one call after the other, and removed when it is idle, full of a failed call or replaced.
 *
 * Invariants: a container is in the engine only while its name is in `names`, or until the next
 * removal of strays; a call runs only in a container that no failed call has left behind.
 */
import { createHash } from 'node:crypto';
import type {
  ContractExecution,
  ContractFailure,
  ContractImage,
  ContractOutcome,
  Readiness,
} from '../../base/containers.ts';
import type { Clock, Log, Random } from '../../base/ports.ts';
import { createSlots, type Slots } from '../../base/slots.ts';
import { type Container, type ContainerOptions, startContainer } from './container.ts';
import type { ContainerInterface } from './container-interface.ts';
import type { Engine, ImageInfo } from './engine.ts';
import { EngineAway } from './engine-client.ts';
import { Failed, passing, reasonOf } from './failures.ts';
import type { ImageStore } from './image-store.ts';

export interface ContainerSetOptions extends ContainerOptions {
  /** Label of all containers and networks of this node, with its value. */
  readonly label: readonly [name: string, value: string];
  readonly perContainerMax: number;
  readonly removeAfterMs: number;
  readonly removeOnFail: boolean;
  /** False: each call gets a container of its own. */
  readonly reuse: boolean;
}

export interface ContainerSetDeps {
  readonly engine: Engine;
  readonly images: ImageStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The interface for contracts of this version and image. */
  interfaceOf(
    createVersion: number,
    image: ImageInfo,
  ): Promise<{ readonly protocol: 'exec' | 'grpc'; readonly use: ContainerInterface }>;
  /** The engine did not answer a call. */
  onAway(): void;
}

export interface ContainerSet {
  prepare(image: ContractImage, createVersion: number): Readiness;
  run(execution: ContractExecution): Promise<ContractOutcome>;
  release(image: ContractImage): void;
  /** Removes what is in the engine under the label of this node and not in use. */
  removeStrays(): Promise<void>;
  close(): Promise<void>;
}

/** What is known of an image and interface, with its container where it has one. */
interface Place {
  readonly key: string;
  readonly image: ContractImage;
  readonly createVersion: number;
  readonly slots: Slots;
  running: number;
  usedAt: number;
  start: AbortController | undefined;
  container: Container | undefined;
  /** True once a call has ended well in the container. */
  hasServed: boolean;
  failure: ContractFailure | undefined;
  pauseMs: number;
  notBefore: number;
}

const PLACES_MAX = 1000;
const CONTAINERS_MAX = 32;
const PAUSE_MS_MIN = 1000;
const PAUSE_MS_MAX = 60_000;
const SWEEP_MS_MAX = 30_000;
/** Containers that failed and are kept for a look at them. */
const KEPT_MAX = 10;
/** A stopping node leaves what is not removed by then to its next start. */
const CLOSE_MS = 6000;
const NAME_BYTES = 8;
const CONNECTION_ID_CHARS = 16;

export function containerSet(options: ContainerSetOptions, deps: ContainerSetDeps): ContainerSet {
  const { engine, images, clock, random, log } = deps;
  const places = new Map<string, Place>();
  const names = new Set<string>();
  const kept: Container[] = [];
  const removals = new Set<Promise<void>>();
  let hasStrays = false;
  let isClosed = false;
  const sweepMs = Math.min(SWEEP_MS_MAX, Math.max(1, options.removeAfterMs / 2));
  let cancelSweep = clock.after(sweepMs, sweep);

  function placeOf(image: ContractImage, createVersion: number): Place {
    const key = `${createVersion} ${image.imageHash.toLowerCase()} ${image.image}`;
    const known = places.get(key);
    if (known !== undefined) return known;
    if (places.size >= PLACES_MAX) forgetOne();
    const place: Place = {
      ...{ key, image, createVersion, slots: createSlots(options.perContainerMax) },
      ...{ running: 0, usedAt: clock.monotonic(), notBefore: 0, pauseMs: PAUSE_MS_MIN },
      ...{ start: undefined, container: undefined, failure: undefined, hasServed: false },
    };
    places.set(key, place);
    return place;
  }

  /** The longest unused place without a container. */
  function forgetOne(): void {
    const idle = [...places.values()].filter((one) => !one.container && !one.start);
    const oldest = idle.sort((a, b) => a.usedAt - b.usedAt)[0];
    if (oldest !== undefined) places.delete(oldest.key);
  }

  /** True where one more container may start; the longest idle one makes room. */
  function hasRoom(): boolean {
    const used = [...places.values()].filter((one) => one.container || one.start);
    if (used.length < CONTAINERS_MAX) return true;
    const idle = used.filter((one) => one.container && one.running === 0);
    const oldest = idle.sort((a, b) => a.usedAt - b.usedAt)[0];
    if (oldest !== undefined) discard(oldest);
    return oldest !== undefined;
  }

  async function begin(place: Place): Promise<void> {
    const start = new AbortController();
    place.start = start;
    const name = `platform-node-${Buffer.from(random.bytes(NAME_BYTES)).toString('hex')}`;
    names.add(name);
    try {
      const info = await images.find(place.image, start.signal);
      const chosen = await deps.interfaceOf(place.createVersion, info);
      const plan = {
        ...{ name, info, image: place.image, connectionId: connectionIdOf(place.image), ...chosen },
        labels: Object.fromEntries([options.label, ['platform-node.image-hash', info.id]]),
      };
      const container = await startContainer(plan, options, { engine, clock, log }, start.signal);
      log.info('container.started', { image: place.image.image, protocol: chosen.protocol, name });
      place.container = container;
      place.hasServed = false;
      place.usedAt = clock.monotonic();
      void container.ended.then((why) => {
        if (place.container !== container) return;
        postpone(place);
        if (!place.hasServed && place.running === 0) place.failure = passing(why);
        discard(place);
      });
    } catch (cause) {
      names.delete(name);
      hasStrays = true;
      if (!start.signal.aborted) failedStart(place, cause);
    } finally {
      place.start = undefined;
    }
  }

  function failedStart(place: Place, cause: unknown): void {
    postpone(place);
    // While the engine is away calls wait, as on a node without one.
    if (cause instanceof EngineAway) {
      deps.onAway();
      return;
    }
    place.failure = cause instanceof Failed ? cause.failure : passing(reasonOf(cause));
    log.warn('container.not-started', { image: place.image.image, why: reasonOf(cause) });
  }

  function postpone(place: Place): void {
    place.notBefore = clock.monotonic() + place.pauseMs;
    place.pauseMs = Math.min(2 * place.pauseMs, PAUSE_MS_MAX);
  }

  /** Removes the container of a place, in the background. */
  function discard(place: Place, hasFailed = false): void {
    const { container } = place;
    place.container = undefined;
    if (container === undefined) return;
    if (!hasFailed || options.removeOnFail) {
      removeInTime(container);
      return;
    }
    // It stays in the engine, stopped, until others have failed or the node ends.
    kept.push(container);
    track(container.stop().catch((cause: unknown) => void notRemoved(container, cause)));
    if (kept.length > KEPT_MAX) removeInTime(kept.shift()!);
  }

  function removeInTime(container: Container): void {
    const removal = container.remove().catch((cause: unknown) => notRemoved(container, cause));
    track(removal.finally(() => names.delete(container.name)));
  }

  function notRemoved({ name }: Container, cause: unknown): void {
    hasStrays = true;
    log.warn('container.not-removed', { name, why: reasonOf(cause) });
    if (cause instanceof EngineAway) deps.onAway();
  }

  function track(removal: Promise<void>): void {
    removals.add(removal);
    void removal.finally(() => removals.delete(removal));
  }

  function sweep(): void {
    const oldest = clock.monotonic() - options.removeAfterMs;
    for (const place of places.values()) {
      if (place.running > 0 || place.start !== undefined || place.usedAt > oldest) continue;
      discard(place);
      places.delete(place.key);
    }
    if (hasStrays) void removeStrays().catch(() => deps.onAway());
    cancelSweep = clock.after(sweepMs, sweep);
  }

  async function removeStrays(): Promise<void> {
    const label = options.label.join('=');
    for (const what of ['containers', 'networks'] as const) {
      const strays = (await engine.withLabel(what, label)).filter((name) => !names.has(name));
      await Promise.all(
        strays.map((name) =>
          what === 'containers' ? engine.remove(name) : engine.removeNetwork(name),
        ),
      );
      if (strays.length > 0) log.info('container.strays-removed', { what, count: strays.length });
    }
    hasStrays = false;
  }

  async function runIn(place: Place, execution: ContractExecution): Promise<ContractOutcome> {
    const { container } = place;
    if (container === undefined) return NOT_READY;
    try {
      const outcome = await container.run(execution);
      place.hasServed = true;
      place.pauseMs = PAUSE_MS_MIN;
      return outcome;
    } catch (cause) {
      if (place.container === container) discard(place, true);
      if (!(cause instanceof Failed)) deps.onAway();
      return cause instanceof Failed ? cause.failure : AWAY;
    } finally {
      if (!options.reuse && place.container === container) discard(place);
    }
  }

  return {
    prepare(image, createVersion) {
      if (isClosed) return STOPPING;
      const place = placeOf(image, createVersion);
      place.usedAt = clock.monotonic();
      if (place.container !== undefined) return { kind: 'ready' };
      const { failure } = place;
      place.failure = undefined;
      if (failure !== undefined) return failure;
      const mayBegin = place.start === undefined && place.usedAt >= place.notBefore;
      if (mayBegin && hasRoom()) track(begin(place));
      return { kind: 'starting' };
    },

    async run(execution) {
      if (isClosed) return STOPPING;
      const place = placeOf(execution.image, execution.createVersion);
      place.running++;
      const release = await place.slots.take();
      try {
        return execution.signal?.aborted ? NOT_WANTED : await runIn(place, execution);
      } finally {
        release();
        place.running--;
        place.usedAt = clock.monotonic();
        // Released while it ran.
        if (place.running === 0 && places.get(place.key) !== place) discard(place);
      }
    },

    release({ image, imageHash }) {
      for (const place of [...places.values()]) {
        if (place.image.image !== image || place.image.imageHash !== imageHash) continue;
        places.delete(place.key);
        place.start?.abort(new Failed(passing('The image is no longer used')));
        if (place.running === 0) discard(place);
      }
    },

    removeStrays,

    async close() {
      isClosed = true;
      cancelSweep();
      for (const place of places.values()) {
        place.start?.abort(STOPPED);
        discard(place);
      }
      for (const container of kept.splice(0)) removeInTime(container);
      const late = new Promise<void>((resolve) => void clock.after(CLOSE_MS, resolve));
      const all = Promise.all(removals).then(removeStrays);
      await Promise.race([all, late]).catch((cause: unknown) => {
        log.warn('container.not-removed', { why: reasonOf(cause) });
      });
    },
  };
}

const NOT_READY = passing('The container is not ready');
const NOT_WANTED = passing('The call is no longer wanted');
const AWAY = passing('The container engine does not answer');
const STOPPING = passing('The node stops');
const STOPPED = new Failed(STOPPING);

const connectionIdOf = ({ image, imageHash }: ContractImage): string =>
  createHash('sha256')
    .update(imageHash.toLowerCase())
    .update(image)
    .digest('hex')
    .slice(0, CONNECTION_ID_CHARS);
