/**
 * One image from its registry into the engine, within the limits: its sizes are known before the pull,
 * the disk is watched during it, and what turns out to be too big is removed.
 *
 * Users learn what became of it in a few fixed words, because the texts of engines and registries tell
 * of the network of the node. The log has them.
 */
import { pause } from '../../../base/deadline.ts';
import { type ImageName, registryOf } from '../../../base/image-name.ts';
import { contractLimits } from '../../../base/limits/contract-limits.ts';
import type { Clock } from '../../../base/ports/clock.ts';
import type { ContractImage } from '../../../base/ports/containers.ts';
import type { Log } from '../../../base/ports/log.ts';
import type { Engine, RegistryLogin } from '../engine.ts';
import type { EngineMachine, ImageInfo } from '../engine-answers.ts';
import { EngineAway } from '../engine-client.ts';
import { Failed, lasting, passing, reasonOf } from '../failures.ts';
import { DISK_FREE_MIN, type DiskWatch } from './disk-watch.ts';
import { type FoundManifest, findManifest } from './find-manifest.ts';
import { makeRoom } from './make-room.ts';
import { BadManifest } from './manifest.ts';
import { PullTooBig, pullImage } from './pull.ts';
import { PullsBusy } from './pull-turns.ts';
import type { PulledImage, PulledImages } from './pulled-images.ts';
import { Registry, RegistryFailed } from './registry.ts';

export interface FetchOptions {
  readonly registries: readonly RegistryLogin[];
  /** Bytes of an image, compressed and on the disk. */
  readonly imageSizeMax: number;
  /** Bytes on the disk of all images that this node has fetched. */
  readonly imageQuota: number;
  /** For one pull with all that it needs. */
  readonly pullMs: number;
}

export interface FetchDeps {
  readonly engine: Engine;
  readonly machine: EngineMachine;
  readonly disk: DiskWatch;
  readonly pulled: PulledImages;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Fetch {
  readonly image: ContractImage;
  readonly name: ImageName;
  /** The id that it must have, in lower case. */
  readonly hash: string;
  readonly creator: string;
  /** True while no other pull has run beside this one. */
  readonly wasAlone: () => boolean;
  /** Hashes of the images that are being pulled; not of those whose registries are still asked. */
  readonly underWay: Set<string>;
  readonly signal: AbortSignal;
}

/** The disk filled while several images were fetched, so one of them is to blame. */
export class PulledBesideOthers extends Failed {
  override name = 'PulledBesideOthers';
}

/** The disk filled while this image alone was fetched. */
class DiskFilled extends PullTooBig {
  override name = 'DiskFilled';
}

class PullLimit extends Error {
  override name = 'PullLimit';
}

/** What is left of a pull that was ended is gone by then. */
const ENDED_MS = 1000;

/** Rejects with Failed, PullsBusy, EngineAway, or the reason of the signal. */
export async function fetchImage(
  of: Fetch,
  options: FetchOptions,
  deps: FetchDeps,
): Promise<ImageInfo> {
  const { image, signal } = of;
  const limit = new AbortController();
  const cancel = deps.clock.after(options.pullMs, () =>
    limit.abort(new PullLimit('no end in time')),
  );
  const both = AbortSignal.any([signal, limit.signal]);
  try {
    return await fetchWithin({ ...of, signal: both }, limit, options, deps);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof PullsBusy) throw cause;
    const failure = await failureOf(cause, of, deps);
    deps.log.warn('image.not-fetched', { image: image.image, why: reasonOf(cause) });
    throw failure;
  } finally {
    cancel();
  }
}

async function fetchWithin(
  of: Fetch,
  limit: AbortController,
  options: FetchOptions,
  deps: FetchDeps,
): Promise<ImageInfo> {
  const { name, hash, underWay } = of;
  const login = options.registries.find(({ domain }) => registryOf(domain) === name.registry);
  const manifest = await askRegistry(of, login, deps);
  const known = await deps.engine.image(hash);
  // By another name: each image is pulled by one.
  if (underWay.has(hash)) throw new PullsBusy();
  // It is the operator's, or that of another contract.
  if (known?.id === hash) return known;
  underWay.add(hash);
  try {
    return await pullWithin(of, { manifest, login }, limit, options, deps);
  } finally {
    underWay.delete(hash);
  }
}

async function pullWithin(
  of: Fetch,
  {
    manifest,
    login,
  }: { readonly manifest: FoundManifest; readonly login: RegistryLogin | undefined },
  limit: AbortController,
  options: FetchOptions,
  deps: FetchDeps,
): Promise<ImageInfo> {
  const { name, hash, creator, signal } = of;
  const { engine, disk, pulled, log } = deps;
  const { imageSizeMax } = options;
  if (manifest.bytes > imageSizeMax) throw new PullTooBig(`${manifest.bytes} bytes`);
  const free = await disk.freeBytes();
  if (free !== undefined && free - manifest.bytes < DISK_FREE_MIN)
    throw new PullLimit('the disk is full');
  const reference = `${name.registry}/${name.path}@${manifest.digest}`;
  const noted = { name: name.full, hash, reference, creator, bytes: manifest.bytes };
  if (!(await makeRoom(noted, options, deps))) throw new PullLimit('the quota is used up');
  pulled.note(noted);
  log.info('image.pull', { image: name.full });
  const watch = await disk.begin(contractLimits.growth.value * imageSizeMax, (what) => {
    limit.abort(what === 'growth' ? growth(of) : new PullLimit('the disk is full'));
  });
  try {
    const from = { fromImage: `${name.registry}/${name.path}`, tag: manifest.digest };
    await pullImage(engine, from, { login, bytesMax: imageSizeMax }, signal);
    watch.end();
    return await settle(noted, options, deps);
  } catch (cause) {
    watch.end();
    await pause(deps.clock, ENDED_MS);
    await remove(noted, deps);
    // The disk is not that of the engine alone.
    if (cause instanceof DiskFilled && !(await watch.isFreed())) {
      throw new PullLimit('others fill the disk', { cause });
    }
    throw cause;
  }
}

async function askRegistry(
  { name, hash, image, signal }: Fetch,
  login: RegistryLogin | undefined,
  { engine, machine, clock }: FetchDeps,
): Promise<FoundManifest> {
  const registry = new Registry(name, { login, insecure: machine.insecure, clock, signal });
  try {
    const found = await findManifest(registry, name, hash, engine.platform);
    if (found !== undefined) return found;
    const message = `Id of image '${image.image}' isn't equal to its digest '${image.imageHash}'`;
    throw new Failed(lasting(message));
  } finally {
    await registry.close();
  }
}

/** Judges what the pull has brought. */
async function settle(
  noted: PulledImage,
  options: FetchOptions,
  deps: FetchDeps,
): Promise<ImageInfo> {
  const info = await deps.engine.image(noted.hash);
  if (info?.id !== noted.hash) throw new PullLimit('the pull brought another image');
  const settled = { ...noted, bytes: info.bytes };
  deps.pulled.note(settled);
  if (info.bytes > options.imageSizeMax) throw new PullTooBig(`${info.bytes} bytes on the disk`);
  if (!(await makeRoom(settled, options, deps))) throw new PullLimit('the quota is used up');
  return info;
}

async function remove(noted: PulledImage, { engine, pulled, log }: FetchDeps): Promise<void> {
  try {
    if ((await engine.removeImage(noted.reference)) === 'gone') pulled.forget(noted);
  } catch (cause) {
    // The note stays, so that the image makes room later.
    log.warn('image.not-removed', { image: noted.name, why: reasonOf(cause) });
  }
}

/** Alone, the image is to blame; it is tried alone before it is blamed. */
const growth = ({ image: { image }, wasAlone }: Fetch): Error =>
  wasAlone() ? new DiskFilled('the disk fills') : new PulledBesideOthers(notNow(image));

async function failureOf(cause: unknown, { image: { image } }: Fetch, { engine }: FetchDeps) {
  if (cause instanceof Failed) return cause;
  if (cause instanceof EngineAway) {
    // A registry that does not answer keeps the engine from answering this call alone.
    await engine.negotiate();
    return new Failed(notNow(image));
  }
  if (cause instanceof PullTooBig) return new Failed(lasting(`Image '${image}' is too big`));
  if (cause instanceof BadManifest) return new Failed(lasting(`Image '${image}' is not usable`));
  const isMissing = cause instanceof RegistryFailed && cause.isMissing;
  return new Failed(isMissing ? lasting(`Image '${image}' is not found`) : notNow(image));
}

const notNow = (image: string) => passing(`Image '${image}' can't be fetched at present`);
