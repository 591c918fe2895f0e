/**
 * The port `Containers` on a real container engine (contracts.md#the-engine). Each image has its
 * containers apart, one for each interface, so contracts of the same image share one.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/ports/clock.ts';
import type { Containers, ContractFailure, ContractImage } from '../../base/ports/containers.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Random } from '../../base/ports/random.ts';
import { capacityOf } from './capacity.ts';
import type { ContainerInterface } from './container-interface.ts';
import { type ChosenInterface, ContainerSet, type ContainerSetOptions } from './container-set.ts';
import { Engine } from './engine.ts';
import type { EngineMachine, ImageInfo } from './engine-answers.ts';
import { type EngineAddress, EngineAway } from './engine-client.ts';
import { watchEngine } from './engine-health.ts';
import { execInterface, type NodeAddress } from './exec-interface.ts';
import { Failed, passing, reasonOf } from './failures.ts';
import { watchDisk } from './images/disk-watch.ts';
import { type ImageOptions, ImageStore } from './images/image-store.ts';
import { openPulledImages } from './images/pulled-images.ts';

export interface ContainersOptions
  extends Omit<ContainerSetOptions, 'label' | 'capacity'>,
    ImageOptions {
  readonly engine: EngineAddress;
  /**
   * Tells this node from others that use the engine, and stays the same over its starts: what a killed
   * node left behind is found by it.
   */
  readonly nodeName: string;
  readonly checkRegistryAuth: boolean;
  /** Interface by version of the 103; a version that is not listed has that of the one before. */
  readonly protocolByCreateVersion: ReadonlyMap<number, 'exec' | 'grpc'>;
  /**
   * Where contracts of the simple interface find the reads; undefined: they have no network. Port 0:
   * `readsAt` will tell.
   */
  readonly rest: (NodeAddress & { readonly port: number }) | undefined;
  /** File of the images that this node has fetched. */
  readonly pulledImages: string;
}

export interface ContainersDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Closed with the containers. */
  readonly grpc: ContainerInterface;
}

/** An image may name its interface by this label. */
const PROTOCOL_LABEL = 'protocol';
const NODE_LABEL = 'platform-node.node';
const LABEL_CHARS = 16;

/**
 * Rejects where the engine does not answer or its address cannot be meant; the interface is then left
 * to the caller.
 */
export async function openContainers(
  options: ContainersOptions,
  deps: ContainersDeps,
): Promise<Containers> {
  const engine = new Engine(options.engine, deps.clock);
  try {
    return await openWith(engine, options, deps);
  } catch (cause) {
    await engine.close();
    throw cause;
  }
}

async function openWith(
  engine: Engine,
  options: ContainersOptions,
  deps: ContainersDeps,
): Promise<Containers> {
  const { clock, log } = deps;
  await engine.negotiate();
  const machine = await engine.machine();
  const images = await openImages(options, machine, { engine, clock, log });
  const listening = Promise.withResolvers<number>();
  const { rest } = options;
  const reads = rest && { host: rest.host, port: rest.port || listening.promise };
  const exec = execInterface({ rest: reads, pidsMax: options.limits.pids }, { engine, log });
  const interfaceOf = (createVersion: number, image: ImageInfo): ChosenInterface => {
    const protocol = protocolOf(options.protocolByCreateVersion, createVersion, image);
    return { protocol, use: protocol === 'exec' ? exec : deps.grpc };
  };
  const label = [NODE_LABEL, hashOf(options.nodeName)] as const;
  const capacity = capacityOf(machine, options.limits);
  const set = new ContainerSet(
    { ...options, label, capacity },
    { ...deps, engine, images, interfaceOf, onAway: () => health.suspect() },
  );
  const health = watchEngine(options.engine.host, () => set.removeStrays(), { engine, clock, log });
  const ending = new AbortController();
  const checks = new ImageChecks(images, ending.signal, { log, onAway: () => health.suspect() });

  async function close(): Promise<void> {
    health.close();
    ending.abort(new Failed(passing('The node stops')));
    listening.resolve(0);
    await set.stop();
    await deps.grpc.close();
    await engine.close();
  }

  try {
    await set.start();
  } catch (cause) {
    health.close();
    await set.stop();
    throw cause;
  }
  if (options.checkRegistryAuth && options.pull !== 'never') void tryLogins(options, engine, log);

  return {
    prepare: (image, createVersion, creator) =>
      health.problem() === undefined
        ? set.prepare(image, createVersion, creator)
        : { kind: 'starting' },
    checkImage: (image, creator) => checks.of(image, creator),
    run: (execution) => set.run(execution),
    release: (image) => set.release(image),
    readsAt: listening.resolve,
    isOfOne: (address) => engine.hasNetworkOf(address),
    problem: () => health.problem(),
    close,
  };
}

/** Whether images can be had; those that are asked for at the same time are looked for once. */
class ImageChecks {
  readonly #images: ImageStore;
  readonly #signal: AbortSignal;
  readonly #deps: { readonly log: Log; onAway(): void };
  readonly #underWay = new Map<string, Promise<ContractFailure | undefined>>();

  constructor(
    images: ImageStore,
    signal: AbortSignal,
    deps: { readonly log: Log; onAway(): void },
  ) {
    this.#images = images;
    this.#signal = signal;
    this.#deps = deps;
  }

  async of(image: ContractImage, creator: string): Promise<ContractFailure | undefined> {
    const key = `${image.imageHash} ${image.image}`;
    const known = this.#underWay.get(key);
    if (known !== undefined) return known;
    const checked = this.#check(image, creator).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, checked);
    return checked;
  }

  async #check(image: ContractImage, creator: string): Promise<ContractFailure | undefined> {
    try {
      await this.#images.find(image, creator, this.#signal);
      return undefined;
    } catch (cause) {
      if (cause instanceof EngineAway) this.#deps.onAway();
      if (cause instanceof Failed) return cause.failure;
      this.#deps.log.warn('image.not-fetched', { image: image.image, why: reasonOf(cause) });
      return passing(`Image '${image.image}' can't be fetched at present`);
    }
  }
}

async function openImages(
  options: ContainersOptions,
  machine: EngineMachine,
  ports: { readonly engine: Engine; readonly clock: Clock; readonly log: Log },
): Promise<ImageStore> {
  const { log, clock } = ports;
  const pulled = openPulledImages(options.pulledImages, (why) => {
    log.warn('images.unreadable', { path: options.pulledImages, why });
  });
  // The folders of an engine on another machine would be others here.
  const isHere = options.engine.host.startsWith('unix:');
  const disk = watchDisk(isHere ? machine.folders : [], clock);
  if (options.pull !== 'never' && (await disk.freeBytes()) === undefined) {
    log.warn('engine.disk-unseen', { folders: machine.folders });
  }
  return new ImageStore(options, { ...ports, machine, disk, pulled });
}

function protocolOf(
  byVersion: ReadonlyMap<number, 'exec' | 'grpc'>,
  createVersion: number,
  { labels }: ImageInfo,
): 'exec' | 'grpc' {
  const named = labels[PROTOCOL_LABEL];
  if (named === 'exec' || named === 'grpc') return named;
  const versions = [...byVersion.keys()].filter((version) => version <= createVersion);
  return byVersion.get(Math.max(...versions)) ?? 'grpc';
}

/** A registry that is down does not keep the node from starting. */
async function tryLogins({ registries }: ImageOptions, engine: Engine, log: Log): Promise<void> {
  for (const registry of registries) {
    await engine.login(registry).catch((cause: unknown) => {
      log.warn('registry.no-login', { domain: registry.domain, why: reasonOf(cause) });
    });
  }
}

const hashOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, LABEL_CHARS);
