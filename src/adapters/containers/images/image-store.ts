/**
 * Images of contracts: found by their id, fetched by their name where they are missing, and used only
 * where the id is the hash that the contract names (contracts.md#images).
 */
import {
  type ImageName,
  imagePattern,
  isNameOf,
  parseImageName,
  registryOf,
} from '../../../base/image-name.ts';
import { contractLimits } from '../../../base/limits/contract-limits.ts';
import type { ContractImage } from '../../../base/ports/containers.ts';
import type { Log } from '../../../base/ports/log.ts';
import { BoundedCache } from '../../../concurrency/bounded-cache.ts';
import { Semaphore } from '../../../concurrency/semaphore.ts';
import type { Engine, RegistryLogin } from '../engine.ts';
import type { ImageInfo } from '../engine-answers.ts';
import { Failed, lasting } from '../failures.ts';
import {
  type FetchDeps,
  type FetchOptions,
  fetchImage,
  PulledBesideOthers,
} from './fetch-image.ts';
import { createPullTurns, PullsBusy } from './pull-turns.ts';

export interface ImageOptions extends FetchOptions, AllowedImages {}

/** The images of these registries are fetched, and those of these patterns. */
interface AllowedImages {
  readonly pull: 'missing' | 'never';
  readonly registries: readonly RegistryLogin[];
  /** Patterns of names (base/image-name.ts). */
  readonly allowedImages: readonly string[];
  readonly defaultRegistryDomain: string | undefined;
}

export interface ImageStoreDeps extends FetchDeps {
  readonly engine: Engine;
  readonly log: Log;
}

const KNOWN_MAX = 1000;

export class ImageStore {
  readonly #options: ImageOptions;
  readonly #deps: ImageStoreDeps;
  readonly #mayFetch: (name: ImageName) => boolean;
  readonly #turns = createPullTurns();
  /** Questions of the engine: thousands of images may be asked for at once. */
  readonly #asking = new Semaphore(contractLimits.searches.value);
  /** Images of the engine to which their registries give these names. */
  readonly #named = new BoundedCache<string, true>(KNOWN_MAX);
  /** Images that are being pulled. */
  readonly #underWay = new Set<string>();
  /** Images that filled the disk beside others. */
  readonly #suspects = new BoundedCache<string, true>(KNOWN_MAX);

  constructor(options: ImageOptions, deps: ImageStoreDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#mayFetch = allowedImages(options);
  }

  /**
   * The image with this name and hash; where it is missing, it is fetched in the turn of the creator.
   * Rejects with Failed where there is none, with PullsBusy, EngineAway and the reason of the signal.
   */
  async find(image: ContractImage, creator: string, signal: AbortSignal): Promise<ImageInfo> {
    const { engine, log } = this.#deps;
    const hash = image.imageHash.toLowerCase();
    const name = parseImageName(image.image, this.#options.defaultRegistryDomain);
    if (name === undefined) throw missing(image);
    const known = await this.#asking.run(async () => {
      signal.throwIfAborted();
      return this.#local(name, hash);
    }, creator);
    if (known !== undefined) return known;
    const byName = await this.#asking.run(() => engine.image(name.full), creator);
    // Engines may know an image by a shorter name than they list.
    if (byName?.id === hash && !this.#underWay.has(hash)) return byName;
    if (this.#mayFetch(name)) return this.#fetch(image, name, creator, signal);
    if (this.#underWay.has(hash)) throw new PullsBusy();
    if (byName !== undefined) log.warn('image.another', { image: image.image, id: byName.id });
    throw missing(image);
  }

  /** The image where the engine has it under this name. */
  async #local(name: ImageName, hash: string): Promise<ImageInfo | undefined> {
    const { engine, pulled } = this.#deps;
    const found = await engine.image(hash);
    // What is being pulled is not judged yet.
    if (found?.id !== hash || this.#underWay.has(hash)) return undefined;
    const isNamed =
      found.names.some((listed) => isNameOf(name, listed)) ||
      pulled.has(name.full, hash) ||
      this.#named.get(`${hash} ${name.full}`) === true;
    if (isNamed) pulled.use(hash);
    return isNamed ? found : undefined;
  }

  async #fetch(
    image: ContractImage,
    name: ImageName,
    creator: string,
    signal: AbortSignal,
  ): Promise<ImageInfo> {
    const underWay = this.#underWay;
    const hash = image.imageHash.toLowerCase();
    const key = `${hash} ${name.full}`;
    const isAlone = this.#suspects.get(key) === true;
    return this.#turns.run({ creator, isAlone, signal }, async (wasAlone) => {
      // Another contract may have asked for it meanwhile.
      const known = await this.#local(name, hash);
      if (known !== undefined) return known;
      if (underWay.has(hash)) throw new PullsBusy();
      try {
        const of = { image, name, hash, creator, wasAlone, underWay, signal };
        const fetched = await fetchImage(of, this.#options, this.#deps);
        this.#named.set(key, true);
        return fetched;
      } catch (cause) {
        if (cause instanceof PulledBesideOthers) this.#suspects.set(key, true);
        throw cause;
      }
    });
  }
}

const missing = ({ image }: ContractImage): Failed =>
  new Failed(lasting(`Image '${image}' is not found`));

function allowedImages(of: AllowedImages): (name: ImageName) => boolean {
  if (of.pull === 'never') return () => false;
  const registries = new Set(of.registries.map(({ domain }) => registryOf(domain)));
  const patterns = of.allowedImages.flatMap(
    (text) => imagePattern(text, of.defaultRegistryDomain) ?? [],
  );
  return (name) => registries.has(name.registry) || patterns.some((matches) => matches(name));
}
