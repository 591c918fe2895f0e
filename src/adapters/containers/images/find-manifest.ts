/** From the name and the hash of an image to what the engine must fetch, before it fetches anything. */
import type { ImageName } from '../../../base/image-name.ts';
import { contractLimits } from '../../../base/limits/contract-limits.ts';
import type { Platform } from '../engine-answers.ts';
import { BadManifest, type Index, type Manifest } from './manifest.ts';
import type { Registry } from './registry.ts';

export interface FoundManifest {
  /** The engine fetches by it, so that it gets the manifest that was judged. */
  readonly digest: string;
  /** The most that a pull of it fetches, as the registry says. */
  readonly bytes: number;
}

/**
 * Undefined where the registry has another image under the name. `hash` is the id of the image: which
 * digest that is depends on how the engine keeps images. Rejects as Registry and with BadManifest.
 */
export async function findManifest(
  registry: Pick<Registry, 'manifest'>,
  { tag }: Pick<ImageName, 'tag'>,
  hash: string,
  platform: Platform,
): Promise<FoundManifest | undefined> {
  const id = `sha256:${hash}`;
  const named = await registry.manifest(tag);
  if (named.kind === 'image') return isImage(named, id) ? named : undefined;
  const isWhole = named.digest === id;
  let bytes = 0;
  for (const { digest } of ofPlatform(named, platform)) {
    const one = await registry.manifest(digest);
    if (one.kind !== 'image') throw new BadManifest('an index in an index');
    if (isImage(one, id)) return one;
    bytes = Math.max(bytes, one.bytes);
  }
  return isWhole && bytes > 0 ? { digest: named.digest, bytes } : undefined;
}

const isImage = (manifest: Manifest, id: string): boolean =>
  manifest.kind === 'image' && (manifest.config === id || manifest.digest === id);

function ofPlatform({ entries }: Index, { os, architecture }: Platform): Index['entries'] {
  const own = entries.filter(
    (one) => one.os === os && (architecture === '' || one.architecture === architecture),
  );
  if (own.length > contractLimits.manifests.value) throw new BadManifest('too many manifests');
  return own;
}
