/**
 * All containers of the node: one for each image and interface, started when a call first needs it,
 * used by one call after the other, and removed when it is idle, has failed a call or makes room. A
 * call never runs in a container in which another has failed.
 */
import { createHash } from 'node:crypto';
import type {
  ContractExecution,
  ContractImage,
  ContractOutcome,
  Readiness,
} from '../../base/containers.ts';
import { contractLimits } from '../../base/contract-limits.ts';
import type { Clock, Log, Random } from '../../base/ports.ts';
import { roundLimits } from '../../base/round-limits.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';
import type { Capacity } from './capacity.ts';
import {
  type Container,
  type ContainerDeps,
  type ContainerOptions,
  startContainer,
} from './container.ts';
import type { ContainerInterface } from './container-interface.ts';
import type { Engine } from './engine.ts';
import type { ImageInfo } from './engine-answers.ts';
import { EngineAway } from './engine-client.ts';
import { EngineShort, Failed, ofContract, passing, whyOf } from './failures.ts';
import type { ImageStore } from './images/image-store.ts';
import { PullsBusy } from './images/pull-turns.ts';
import { createPlaces, hasServed, type Place, postpone } from './places.ts';
import { createRemovals } from './removals.ts';

export interface ContainerSetOptions extends ContainerOptions {
  /** Label of all containers and networks of this node, with its value. */
  readonly label: readonly [name: string, value: string];
  readonly perContainerMax: number;
  readonly removeAfterMs: number;
  readonly removeOnFail: boolean;
  /** False: each call gets a container of its own. */
  readonly reuse: boolean;
  readonly capacity: Capacity;
}

export interface ContainerSetDeps {
  readonly engine: Engine;
  readonly images: ImageStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The interface for contracts of this version and image. */
  interfaceOf(createVersion: number, image: ImageInfo): ChosenInterface;
  /** The engine did not answer a call. */
  onAway(): void;
}

export interface ChosenInterface {
  readonly protocol: 'exec' | 'grpc';
  readonly use: ContainerInterface;
}

export interface ContainerSet {
  prepare(image: ContractImage, createVersion: number, creator: string): Readiness;
  run(execution: ContractExecution): Promise<ContractOutcome>;
  release(image: ContractImage): void;
  /** Removes what is in the engine under the label of this node and not in use. */
  removeStrays(): Promise<void>;
  close(): Promise<void>;
}

/** The part of the containers that creators with an equal part leave to others: one of so many. */
const RESERVE = roundLimits.reserve.value;
const SHORT_MS_MAX = roundLimits.heldUp.value;
const START_TURN_MS = contractLimits.startTurn.value;
const SWEEP_MS_MAX = 30_000;
/** Until an image is asked for again that too many wait before. */
const BUSY_MS = contractLimits.pullBusy.value;
const NAME_BYTES = 8;
const CONNECTION_ID_CHARS = 16;
const HASH_LABEL = 'platform-node.image-hash';

export function containerSet(options: ContainerSetOptions, deps: ContainerSetDeps): ContainerSet {
  const { clock } = deps;
  const places = createPlaces(options.perContainerMax, clock.monotonic);
  /** All that wait have room for their containers, so there are few. */
  const starts = new Semaphore(options.capacity.starts);
  const removals = createRemovals(options.label.join('='), deps);
  const sweepMs = Math.min(SWEEP_MS_MAX, Math.max(1, options.removeAfterMs / 2));
  let isClosed = false;
  let cancelSweep = clock.after(sweepMs, sweep);

  /**
   * True where a container of this creator may begin. Where too many are there, an idle one goes, and
   * room is there once it is gone. Who has an equal part leaves the last of the room to others, since a
   * container that starts cannot give way.
   */
  function hasRoom(creator: string): boolean {
    const most = options.capacity.containers;
    const { own, creators } = places.held(creator);
    const hasPart = creators > 1 && own >= Math.max(1, Math.floor(most / creators));
    const reserve = hasPart && most > 1 ? Math.max(1, Math.floor(most / RESERVE)) : 0;
    if (removals.present + reserve < most) return true;
    const place = removals.leaving === 0 ? places.yielding(creator) : undefined;
    if (place !== undefined) discard(place);
    return false;
  }

  /** Creators take turns; a start that is slow goes on without holding up others. */
  async function startTurn<T>(creator: string, work: () => Promise<T>): Promise<T> {
    const begun = Promise.withResolvers<T>();
    await starts.run(async () => {
      begun.resolve(work());
      let cancel = (): void => {};
      const late = new Promise<void>((resolve) => {
        cancel = clock.after(START_TURN_MS, resolve);
      });
      await Promise.race([begun.promise.catch(() => undefined), late]);
      cancel();
    }, creator);
    return begun.promise;
  }

  async function begin(place: Place, creator: string): Promise<void> {
    const search = new AbortController();
    place.start = search;
    try {
      // Only a container takes room, so that slow pulls keep nobody out.
      const info = await deps.images.find(place.image, creator, search.signal);
      place.isLocal = true;
      if (hasRoom(creator)) await start(place, info, search.signal);
    } catch (cause) {
      if (!search.signal.aborted) failedStart(place, cause);
    } finally {
      place.start = undefined;
    }
  }

  async function start(place: Place, info: ImageInfo, signal: AbortSignal): Promise<void> {
    const name = nameFrom(deps.random);
    removals.expect(name);
    place.isStarting = true;
    try {
      const { notRemoved } = removals;
      const inTurn = <T>(work: () => Promise<T>): Promise<T> => startTurn(place.creator, work);
      const more = { ...deps, notRemoved, inTurn };
      const container = await startFor(place, name, info, options, more, signal);
      place.container = container;
      place.hasServed = false;
      place.shortSince = undefined;
      place.usedAt = clock.monotonic();
      place.readyAt = place.usedAt;
      void container.ended.then((why) => hasEnded(place, container, why));
    } catch (cause) {
      removals.forget(name);
      throw cause;
    } finally {
      place.isStarting = false;
    }
  }

  function hasEnded(place: Place, container: Container, why: string): void {
    if (place.container !== container) return;
    postpone(place, clock.monotonic());
    // A call that is running tells it itself.
    if (!place.hasServed && place.running === 0) place.failure = ofContract(why);
    discard(place);
  }

  function failedStart(place: Place, cause: unknown): void {
    if (cause instanceof PullsBusy) {
      place.notBefore = clock.monotonic() + BUSY_MS;
      return;
    }
    postpone(place, clock.monotonic());
    if (cause instanceof EngineAway) {
      // While the engine is away calls wait, as on a node without one.
      deps.onAway();
      return;
    }
    if (cause instanceof EngineShort) {
      deps.log.error('engine.short', { why: cause.message, remedy: REMEDY });
      isShort(place);
      return;
    }
    place.failure = cause instanceof Failed ? cause.failure : NOT_STARTED;
    deps.log.warn('container.not-started', { image: place.image.image, why: whyOf(cause) });
  }

  /** The engine may hold fewer containers than the machine. So one that is idle gives way here too. */
  function isShort(place: Place): void {
    const gone = places.yielding(place.creator);
    if (gone !== undefined) discard(gone);
    const now = clock.monotonic();
    place.shortSince ??= now;
    if (now - place.shortSince < SHORT_MS_MAX) return;
    place.shortSince = undefined;
    place.failure = SHORT;
  }

  /** Takes the container from its place. */
  function discard(place: Place, hasFailed = false): void {
    const { container } = place;
    place.container = undefined;
    if (container === undefined) return;
    if (hasFailed && !options.removeOnFail) removals.keep(container);
    else removals.remove(container);
  }

  function sweep(): void {
    const oldest = clock.monotonic() - options.removeAfterMs;
    for (const place of places.all()) {
      if (place.running > 0 || place.start !== undefined || place.usedAt > oldest) continue;
      discard(place);
      places.remove(place);
    }
    removals.sweep();
    cancelSweep = clock.after(sweepMs, sweep);
  }

  async function runIn(place: Place, execution: ContractExecution): Promise<ContractOutcome> {
    const { container } = place;
    if (container === undefined) return NOT_READY;
    try {
      const outcome = await container.run(execution);
      hasServed(place);
      return outcome;
    } catch (cause) {
      if (place.container === container) discard(place, true);
      if (cause instanceof Failed) {
        if (cause.cause !== undefined) deps.log.warn('container.failed', { why: whyOf(cause) });
        return cause.failure;
      }
      deps.onAway();
      return AWAY;
    } finally {
      if (!options.reuse && place.container === container) discard(place);
    }
  }

  return {
    prepare(image, createVersion, creator) {
      if (isClosed) return STOPPING;
      if (!places.hasRoom(image, createVersion, creator)) return { kind: 'starting' };
      const place = places.of(image, createVersion, creator);
      place.usedAt = clock.monotonic();
      if (place.container !== undefined) return { kind: 'ready' };
      const { failure } = place;
      place.failure = undefined;
      if (failure !== undefined) return failure;
      const mayBegin = place.start === undefined && place.usedAt >= place.notBefore;
      if (mayBegin && (!place.isLocal || hasRoom(creator))) removals.track(begin(place, creator));
      return { kind: 'starting' };
    },

    async run(execution) {
      if (isClosed) return STOPPING;
      const place = places.of(execution.image, execution.createVersion);
      place.running++;
      const release = await place.slots.acquire();
      try {
        return execution.signal?.aborted ? NOT_WANTED : await runIn(place, execution);
      } finally {
        release();
        place.running--;
        place.usedAt = clock.monotonic();
        // The image was released while the call ran.
        if (place.running === 0 && !places.has(place)) discard(place);
      }
    },

    release({ image, imageHash }) {
      for (const place of places.all()) {
        if (place.image.image !== image || place.image.imageHash !== imageHash) continue;
        places.remove(place);
        place.start?.abort(NOT_USED);
        if (place.running === 0) discard(place);
      }
    },

    removeStrays: removals.strays,

    async close() {
      isClosed = true;
      cancelSweep();
      for (const place of places.all()) {
        place.start?.abort(STOPPED);
        discard(place);
      }
      await removals.close();
    },
  };
}

async function startFor(
  { image, createVersion }: Place,
  name: string,
  info: ImageInfo,
  options: ContainerSetOptions,
  deps: ContainerSetDeps & ContainerDeps,
  signal: AbortSignal,
): Promise<Container> {
  const { log } = deps;
  const { protocol, use } = deps.interfaceOf(createVersion, info);
  const labels = Object.fromEntries([options.label, [HASH_LABEL, info.id]]);
  const connectionId = connectionIdOf(image);
  const { capacity } = options;
  const plan = { name, connectionId, labels, image, info, protocol, use, capacity };
  const container = await startContainer(plan, options, deps, signal);
  log.info('container.started', { image: image.image, protocol, name });
  return container;
}

const REMEDY = 'more default-address-pools, or more space on the disk of the engine';
const SHORT = passing('The engine has had no addresses or no space for a long time');
const NOT_STARTED = passing('The container does not start');
const NOT_READY = passing('The container is not ready');
const NOT_WANTED = passing('The call is no longer wanted');
const NOT_USED = new Failed(passing('The image is no longer used'));
const AWAY = passing('The container engine does not answer');
const STOPPING = passing('The node stops');
const STOPPED = new Failed(STOPPING);

const nameFrom = (random: Random): string =>
  `platform-node-${Buffer.from(random.bytes(NAME_BYTES)).toString('hex')}`;

function connectionIdOf({ image, imageHash }: ContractImage): string {
  const hash = createHash('sha256').update(imageHash.toLowerCase()).update(image);
  return hash.digest('hex').slice(0, CONNECTION_ID_CHARS);
}
