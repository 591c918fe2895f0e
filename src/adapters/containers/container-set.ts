/**
 * All containers of the node: one for each image and interface, started when a call first needs it,
 * used by one call after the other, and removed when it is idle, has failed a call or makes room. A
 * call never runs in a container in which another has failed.
 */
import { createHash } from 'node:crypto';
import { timeLimit } from '../../base/deadline.ts';
import { contractLimits } from '../../base/limits/contract-limits.ts';
import { roundLimits } from '../../base/limits/round-limits.ts';
import type {
  ContractExecution,
  ContractImage,
  ContractOutcome,
  Readiness,
} from '../../base/ports/containers.ts';
import type { Random } from '../../base/ports/random.ts';
import { every } from '../../concurrency/interval.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';
import type { Capacity } from './capacity.ts';
import {
  type Container,
  type ContainerDeps,
  type ContainerOptions,
  startContainer,
} from './container.ts';
import type { ContainerInterface } from './container-interface.ts';
import type { ImageInfo } from './engine-answers.ts';
import { EngineAway } from './engine-client.ts';
import { EngineShort, Failed, ofContract, passing, whyOf } from './failures.ts';
import type { ImageStore } from './images/image-store.ts';
import { PullsBusy } from './images/pull-turns.ts';
import { hasServed, isSameImage, type Place, Places, postpone } from './places.ts';
import { Removals, type RemovalsDeps } from './removals.ts';

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

export interface ContainerSetDeps extends RemovalsDeps {
  readonly images: ImageStore;
  readonly random: Random;
  /** The interface for contracts of this version and image. */
  interfaceOf(createVersion: number, image: ImageInfo): ChosenInterface;
}

export interface ChosenInterface {
  readonly protocol: 'exec' | 'grpc';
  readonly use: ContainerInterface;
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

export class ContainerSet {
  readonly #options: ContainerSetOptions;
  readonly #deps: ContainerSetDeps;
  readonly #places: Places;
  /** All that wait have room for their containers, so there are few. */
  readonly #starts: Semaphore;
  readonly #removals: Removals;
  #isClosed = false;
  #endSweeps = (): void => {};

  constructor(options: ContainerSetOptions, deps: ContainerSetDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#places = new Places(options.perContainerMax, deps.clock.monotonic);
    this.#starts = new Semaphore(options.capacity.starts);
    this.#removals = new Removals(options.label.join('='), deps);
  }

  /** Removes what is in the engine under the label of this node; from now on, also what is idle. */
  async start(): Promise<void> {
    const { removeAfterMs } = this.#options;
    const sweepMs = Math.min(SWEEP_MS_MAX, Math.max(1, removeAfterMs / 2));
    this.#endSweeps = every(this.#deps.clock, sweepMs, () => this.#sweep());
    await this.removeStrays();
  }

  async stop(): Promise<void> {
    this.#isClosed = true;
    this.#endSweeps();
    for (const place of this.#places.all()) {
      place.start?.abort(STOPPED);
      this.#discard(place);
    }
    await this.#removals.close();
  }

  prepare(image: ContractImage, createVersion: number, creator: string): Readiness {
    const places = this.#places;
    if (this.#isClosed) return STOPPING;
    if (!places.hasRoom(image, createVersion, creator)) return { kind: 'starting' };
    const place = places.of(image, createVersion, creator);
    place.usedAt = this.#deps.clock.monotonic();
    if (place.container !== undefined) return { kind: 'ready' };
    const { failure } = place;
    place.failure = undefined;
    if (failure !== undefined) return failure;
    const mayBegin = place.start === undefined && place.usedAt >= place.notBefore;
    if (mayBegin && (!place.isLocal || this.#hasRoom(creator))) {
      this.#removals.track(this.#begin(place, creator));
    }
    return { kind: 'starting' };
  }

  async run(execution: ContractExecution): Promise<ContractOutcome> {
    if (this.#isClosed) return STOPPING;
    const place = this.#places.of(execution.image, execution.createVersion);
    place.running++;
    const release = await place.slots.acquire();
    try {
      return execution.signal?.aborted ? NOT_WANTED : await this.#runIn(place, execution);
    } finally {
      release();
      place.running--;
      place.usedAt = this.#deps.clock.monotonic();
      // The image was released while the call ran.
      if (place.running === 0 && !this.#places.has(place)) this.#discard(place);
    }
  }

  release(image: ContractImage): void {
    for (const place of this.#places.all()) {
      if (!isSameImage(place.image, image)) continue;
      this.#places.remove(place);
      place.start?.abort(NOT_USED);
      if (place.running === 0) this.#discard(place);
    }
  }

  /** Removes what is in the engine under the label of this node and not in use. */
  removeStrays(): Promise<void> {
    return this.#removals.strays();
  }

  /**
   * True where a container of this creator may begin. Where too many are there, an idle one goes, and
   * room is there once it is gone. Who has an equal part leaves the last of the room to others, since a
   * container that starts cannot give way.
   */
  #hasRoom(creator: string): boolean {
    const most = this.#options.capacity.containers;
    const { own, creators } = this.#places.held(creator);
    const hasPart = creators > 1 && own >= Math.max(1, Math.floor(most / creators));
    const reserve = hasPart && most > 1 ? Math.max(1, Math.floor(most / RESERVE)) : 0;
    const { present, leaving } = this.#removals;
    if (present + reserve < most) return true;
    const place = leaving === 0 ? this.#places.yielding(creator) : undefined;
    if (place !== undefined) this.#discard(place);
    return false;
  }

  /** Creators take turns; a start that is slow goes on without holding up others. */
  async #startTurn<T>(creator: string, work: () => Promise<T>): Promise<T> {
    const begun = Promise.withResolvers<T>();
    await this.#starts.run(async () => {
      begun.resolve(work());
      const { late, cancel } = timeLimit(this.#deps.clock, START_TURN_MS);
      await Promise.race([begun.promise.catch(() => undefined), late]);
      cancel();
    }, creator);
    return begun.promise;
  }

  async #begin(place: Place, creator: string): Promise<void> {
    const search = new AbortController();
    place.start = search;
    try {
      // Only a container takes room, so that slow pulls keep nobody out.
      const info = await this.#deps.images.find(place.image, creator, search.signal);
      place.isLocal = true;
      if (this.#hasRoom(creator)) await this.#startIn(place, info, search.signal);
    } catch (cause) {
      if (!search.signal.aborted) this.#failedStart(place, cause);
    } finally {
      place.start = undefined;
    }
  }

  async #startIn(place: Place, info: ImageInfo, signal: AbortSignal): Promise<void> {
    const name = nameFrom(this.#deps.random);
    this.#removals.expect(name);
    place.isStarting = true;
    try {
      const notRemoved = (name: string, cause: unknown): void =>
        this.#removals.notRemoved(name, cause);
      const inTurn = <T>(work: () => Promise<T>): Promise<T> =>
        this.#startTurn(place.creator, work);
      const more = { ...this.#deps, notRemoved, inTurn };
      const container = await startFor(place, name, info, this.#options, more, signal);
      place.container = container;
      place.hasServed = false;
      place.shortSince = undefined;
      place.usedAt = this.#deps.clock.monotonic();
      place.readyAt = place.usedAt;
      void container.ended.then((why) => this.#hasEnded(place, container, why));
    } catch (cause) {
      this.#removals.forget(name);
      throw cause;
    } finally {
      place.isStarting = false;
    }
  }

  #hasEnded(place: Place, container: Container, why: string): void {
    if (place.container !== container) return;
    postpone(place, this.#deps.clock.monotonic());
    // A call that is running tells it itself.
    if (!place.hasServed && place.running === 0) place.failure = ofContract(why);
    this.#discard(place);
  }

  #failedStart(place: Place, cause: unknown): void {
    const { clock, log, onAway } = this.#deps;
    if (cause instanceof PullsBusy) {
      place.notBefore = clock.monotonic() + BUSY_MS;
      return;
    }
    postpone(place, clock.monotonic());
    if (cause instanceof EngineAway) {
      // While the engine is away calls wait, as on a node without one.
      onAway();
      return;
    }
    if (cause instanceof EngineShort) {
      log.error('engine.short', { why: cause.message, remedy: REMEDY });
      this.#isShort(place);
      return;
    }
    place.failure = cause instanceof Failed ? cause.failure : NOT_STARTED;
    log.warn('container.not-started', { image: place.image.image, why: whyOf(cause) });
  }

  /** The engine may hold fewer containers than the machine. So one that is idle gives way here too. */
  #isShort(place: Place): void {
    const gone = this.#places.yielding(place.creator);
    if (gone !== undefined) this.#discard(gone);
    const now = this.#deps.clock.monotonic();
    place.shortSince ??= now;
    if (now - place.shortSince < SHORT_MS_MAX) return;
    place.shortSince = undefined;
    place.failure = SHORT;
  }

  /** Takes the container from its place. */
  #discard(place: Place, hasFailed = false): void {
    const { container } = place;
    place.container = undefined;
    if (container === undefined) return;
    if (hasFailed && !this.#options.removeOnFail) this.#removals.keep(container);
    else this.#removals.remove(container);
  }

  #sweep(): void {
    const oldest = this.#deps.clock.monotonic() - this.#options.removeAfterMs;
    for (const place of this.#places.all()) {
      if (place.running > 0 || place.start !== undefined || place.usedAt > oldest) continue;
      this.#discard(place);
      this.#places.remove(place);
    }
    this.#removals.sweep();
  }

  async #runIn(place: Place, execution: ContractExecution): Promise<ContractOutcome> {
    const { container } = place;
    if (container === undefined) return NOT_READY;
    try {
      const outcome = await container.run(execution);
      hasServed(place);
      return outcome;
    } catch (cause) {
      if (place.container === container) this.#discard(place, true);
      if (cause instanceof Failed) {
        const { failure } = cause;
        if (cause.cause !== undefined) {
          this.#deps.log.warn('container.failed', { why: whyOf(cause) });
        }
        return failure;
      }
      this.#deps.onAway();
      return AWAY;
    } finally {
      if (!this.#options.reuse && place.container === container) this.#discard(place);
    }
  }
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
