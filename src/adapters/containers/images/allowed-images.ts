/** Which images the node fetches: those of registries that the operator has named, and of patterns. */
import { type ImageName, imagePattern, registryOf } from '../../../base/image-name.ts';
import type { RegistryLogin } from '../engine.ts';

export interface AllowedImages {
  readonly pull: 'missing' | 'never';
  readonly registries: readonly RegistryLogin[];
  /** Patterns of names (base/image-name.ts). */
  readonly allowedImages: readonly string[];
  readonly defaultRegistryDomain: string | undefined;
}

export function allowedImages(of: AllowedImages): (name: ImageName) => boolean {
  if (of.pull === 'never') return () => false;
  const registries = new Set(of.registries.map(({ domain }) => registryOf(domain)));
  const patterns = of.allowedImages.flatMap(
    (text) => imagePattern(text, of.defaultRegistryDomain) ?? [],
  );
  return (name) => registries.has(name.registry) || patterns.some((matches) => matches(name));
}
