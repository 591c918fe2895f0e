/**
 * The port `Containers` on a real container engine (contracts.md#the-engine). Each image has its
 * containers apart, one for each interface, so contracts of the same image share one.
 */
import { createHash } from 'node:crypto';
import type { Containers, ContractFailure, ContractImage } from '../../base/containers.ts';
import type { Clock, Log, Random } from '../../base/ports.ts';
import type { ContainerOptions } from './container.ts';
import type { ContainerInterface } from './container-interface.ts';
import { type ChosenInterface, containerSet } from './container-set.ts';
import { createEngine, type Engine, type ImageInfo } from './engine.ts';
import { type EngineAddress, EngineAway } from './engine-client.ts';
import { watchEngine } from './engine-health.ts';
import { execInterface, type NodeAddress } from './exec-interface.ts';
import { Failed, passing, reasonOf } from './failures.ts';
import { type ImageOptions, imageStore } from './image-store.ts';

export interface ContainersOptions extends ContainerOptions, ImageOptions {
  readonly engine: EngineAddress;
  /**
   * Tells this node from others that use the engine, and stays the same over its starts: what a killed
   * node left behind is found by it.
   */
  readonly nodeName: string;
  readonly perContainerMax: number;
  readonly removeAfterMs: number;
  readonly removeOnFail: boolean;
  readonly reuse: boolean;
  readonly checkRegistryAuth: boolean;
  /** Interface by version of the 103; a version that is not listed has that of the one before. */
  readonly protocolByCreateVersion: ReadonlyMap<number, 'exec' | 'grpc'>;
  /**
   * Where contracts of the simple interface find the reads; undefined: they have no network. Port 0:
   * `readsAt` will tell.
   */
  readonly rest: (NodeAddress & { readonly port: number }) | undefined;
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

/** Rejects where the engine does not answer or its address cannot be meant. */
export async function openContainers(
  options: ContainersOptions,
  deps: ContainersDeps,
): Promise<Containers> {
  const { clock, log } = deps;
  const engine = createEngine(options.engine, clock);
  const images = imageStore(options, { engine, log });
  const listening = Promise.withResolvers<number>();
  const { rest } = options;
  const reads = rest && { host: rest.host, port: rest.port || listening.promise };
  const exec = execInterface({ rest: reads }, { engine, log });
  const interfaceOf = (createVersion: number, image: ImageInfo): ChosenInterface => {
    const protocol = protocolOf(options.protocolByCreateVersion, createVersion, image);
    return { protocol, use: protocol === 'exec' ? exec : deps.grpc };
  };
  const label = [NODE_LABEL, hashOf(options.nodeName)] as const;
  const set = containerSet(
    { ...options, label },
    { ...deps, engine, images, interfaceOf, onAway: () => health.suspect() },
  );
  const health = watchEngine(options.engine.host, () => set.removeStrays(), { engine, clock, log });
  const ending = new AbortController();
  const checks = new Map<string, Promise<ContractFailure | undefined>>();

  async function close(): Promise<void> {
    health.close();
    ending.abort(new Failed(passing('The node stops')));
    listening.resolve(0);
    await set.close();
    await deps.grpc.close();
    await engine.close();
  }

  async function check(image: ContractImage): Promise<ContractFailure | undefined> {
    try {
      await images.find(image, ending.signal);
      return undefined;
    } catch (cause) {
      if (cause instanceof EngineAway) health.suspect();
      return cause instanceof Failed ? cause.failure : passing(reasonOf(cause));
    }
  }

  try {
    await engine.negotiate();
    await set.removeStrays();
  } catch (cause) {
    await close();
    throw cause;
  }
  if (options.checkRegistryAuth && options.pull !== 'never') void tryLogins(options, engine, log);

  return {
    prepare: (image, createVersion) =>
      health.problem() === undefined ? set.prepare(image, createVersion) : { kind: 'starting' },
    async checkImage(image) {
      const key = `${image.imageHash} ${image.image}`;
      const known = checks.get(key);
      if (known !== undefined) return known;
      const checked = check(image).finally(() => checks.delete(key));
      checks.set(key, checked);
      return checked;
    },
    run: (execution) => set.run(execution),
    release: (image) => set.release(image),
    readsAt: listening.resolve,
    problem: () => health.problem(),
    close,
  };
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
