/**
 * Manifests of images as registries give them (schema 2 and OCI): what a pull would fetch, and how
 * much. The engine reads the same bytes with another parser, so a manifest that two parsers could read
 * in two ways is refused.
 */

import { createHash } from 'node:crypto';
import { isObject } from '../../../base/json/json.ts';
import { contractLimits } from '../../../base/limits/contract-limits.ts';

export interface ImageManifest {
  readonly kind: 'image';
  readonly digest: string;
  /** Digest of the configuration, which most engines take for the id of the image. */
  readonly config: string;
  /** Compressed, all layers and the configuration together, as the manifest says. */
  readonly bytes: number;
}

export interface Index {
  readonly kind: 'index';
  readonly digest: string;
  readonly entries: readonly IndexEntry[];
}

export interface IndexEntry {
  readonly digest: string;
  readonly os: string;
  readonly architecture: string;
}

export type Manifest = ImageManifest | Index;

/** The manifest cannot be used, however often it is fetched. */
export class BadManifest extends Error {
  override name = 'BadManifest';
}

/** Media types that engines ask for. */
export const MANIFEST_TYPES = [
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.index.v1+json',
];

const SCHEMA = 2;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const FIELDS = new Set([
  ...['schemaversion', 'mediatype', 'config', 'layers', 'manifests', 'fslayers'],
  ...['digest', 'size', 'platform', 'os', 'architecture', 'urls'],
]);
const EXACT = new Map([
  ['schemaversion', 'schemaVersion'],
  ['mediatype', 'mediaType'],
  ['fslayers', 'fsLayers'],
]);

/** `expected`: the digest that was asked for. Throws BadManifest. */
export function readManifest(bytes: Uint8Array, expected: string | undefined): Manifest {
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  if (expected !== undefined && digest !== expected) throw new BadManifest('another digest');
  const manifest = fieldsOf(parsed(bytes));
  const { layers, manifests } = manifest;
  const isOne = layers === undefined ? manifests !== undefined : manifests === undefined;
  if (manifest['schemaVersion'] !== SCHEMA || !isOne || manifest['fsLayers'] !== undefined) {
    throw new BadManifest('neither an image nor an index');
  }
  if (manifests !== undefined) {
    return { kind: 'index', digest, entries: listOf(manifests).flatMap(entriesOf) };
  }
  const layerList = listOf(layers);
  if (layerList.length > contractLimits.layers.value) throw new BadManifest('too many layers');
  const config = partOf(manifest['config']);
  // The engine gives it out whenever the image is looked at.
  if (config.size > contractLimits.manifest.value) throw new BadManifest('a long configuration');
  // The engine fetches equal layers once, but nothing of use repeats one.
  const sizes = layerList.map((layer) => partOf(layer).size);
  return {
    kind: 'image',
    digest,
    config: config.digest,
    bytes: sizes.reduce((sum, size) => sum + size, config.size),
  };
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new BadManifest('no JSON', { cause });
  }
}

type Fields = Readonly<Record<string, unknown>> & {
  readonly layers?: unknown;
  readonly manifests?: unknown;
};

/** The parser of engines takes names in any case, and some other letters, for the same. */
function fieldsOf(value: unknown): Fields {
  if (!isObject(value)) throw new BadManifest('no object');
  for (const name of Object.keys(value)) {
    const folded = name.normalize('NFKC').toLowerCase();
    if (FIELDS.has(folded) && name !== (EXACT.get(folded) ?? folded)) {
      throw new BadManifest('a field in another spelling');
    }
  }
  return value;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new BadManifest('no list');
  return value;
}

function partOf(value: unknown): { readonly digest: string; readonly size: number } {
  const { digest, size, urls } = fieldsOf(value);
  if (typeof digest !== 'string' || !DIGEST.test(digest)) throw new BadManifest('no digest');
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
    throw new BadManifest('no size');
  }
  // Such a layer is fetched from anywhere.
  if (urls !== undefined && listOf(urls).length > 0) throw new BadManifest('a foreign layer');
  return { digest, size };
}

/** What names no platform is no image, as a signature. */
function entriesOf(value: unknown): IndexEntry[] {
  const entry = fieldsOf(value);
  const { digest } = partOf(value);
  const platform = entry['platform'];
  if (platform === undefined) return [];
  const { os, architecture } = fieldsOf(platform);
  return typeof os === 'string' && typeof architecture === 'string'
    ? [{ digest, os, architecture }]
    : [];
}
