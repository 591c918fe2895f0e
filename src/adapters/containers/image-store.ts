/**
 * Images of contracts: found by their id, fetched by their name where they are missing, and used only
 * where the id is the hash that the contract names (contracts.md#images).
 */
import type { ContractImage } from '../../base/containers.ts';
import type { Log } from '../../base/ports.ts';
import { atMost } from '../../base/slots.ts';
import type { Engine, ImageInfo, RegistryLogin } from './engine.ts';
import { EngineAway, EngineRefusal } from './engine-client.ts';
import { Failed, lasting, passing, reasonOf } from './failures.ts';
import { fullName, type ImageName, isNameOf, parseImageName } from './image-name.ts';
import { pullImage } from './pull.ts';

export interface ImageOptions {
  readonly pull: 'missing' | 'never';
  readonly registries: readonly RegistryLogin[];
  readonly defaultRegistryDomain: string | undefined;
}

export interface ImageStore {
  /** The image with this name and hash. Rejects with Failed where there is none, and EngineAway. */
  find(image: ContractImage, signal: AbortSignal): Promise<ImageInfo>;
}

const PULLS_MAX = 2;

export function imageStore(
  { pull, registries, defaultRegistryDomain }: ImageOptions,
  { engine, log }: { readonly engine: Engine; readonly log: Log },
): ImageStore {
  const inTurn = atMost(PULLS_MAX);

  async function fetch(name: ImageName, signal: AbortSignal): Promise<void> {
    const login = registries.find(({ domain }) => domain === name.domain);
    const from = { fromImage: name.repository, tag: name.tag };
    log.info('image.pull', { image: fullName(name) });
    await inTurn(() => pullImage(engine, from, login, signal));
  }

  /** Fetches by name. A failure counts only where the engine has no image of this name. */
  async function fetched(
    image: ContractImage,
    name: ImageName,
    signal: AbortSignal,
  ): Promise<ImageInfo> {
    const problem = await fetch(name, signal).then(
      () => undefined,
      (cause: unknown) => pullFailure(image, cause, signal),
    );
    const found = await engine.image(fullName(name));
    if (found === undefined) throw problem ?? missing(image);
    return matching(image, found);
  }

  return {
    async find(image, signal) {
      const name = parseImageName(image.image, defaultRegistryDomain);
      const byHash = await engine.image(image.imageHash.toLowerCase());
      if (byHash !== undefined) {
        matching(image, byHash);
        if (byHash.names.some((listed) => isNameOf(name, listed))) return byHash;
      }
      if (pull !== 'never') return fetched(image, name, signal);
      const byName = await engine.image(fullName(name));
      if (byName === undefined) throw missing(image);
      return matching(image, byName);
    },
  };
}

const missing = ({ image }: ContractImage): Failed =>
  new Failed(lasting(`Image '${image}' is not found`));

function matching({ image, imageHash }: ContractImage, found: ImageInfo): ImageInfo {
  if (found.id === imageHash.toLowerCase()) return found;
  const message = `Id '${found.id}' of local image '${image}' isn't equal to its digest '${imageHash}'`;
  throw new Failed(lasting(message));
}

function pullFailure({ image }: ContractImage, cause: unknown, signal: AbortSignal): Failed {
  if (signal.aborted) throw signal.reason;
  if (cause instanceof EngineAway) throw cause;
  const message = `Can't pull image '${image}': ${reasonOf(cause)}`;
  const isLasting = cause instanceof EngineRefusal && [400, 404].includes(cause.status);
  return new Failed(isLasting ? lasting(message) : passing(message));
}
