/**
 * A registry that the operator has allowed and a hostile author writes to: images that never end,
 * that fill the disk, and whose manifests lie. One good image is among them.
 */
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { MIB } from '../../../../src/base/limits/budget.ts';
import { simpleFiles, type TestImage } from '../../../containers/images.ts';
import { layerOf, MANIFEST, startRegistry, ZIPPED_LAYER } from '../../../containers/registry.ts';

export interface HostileRegistry {
  readonly domain: string;
  /** They begin to arrive, and never end. */
  readonly slow: readonly TestImage[];
  readonly good: TestImage;
  /** Images that the node refuses for good, with its words. */
  readonly refused: readonly (readonly [image: TestImage, words: string])[];
}

interface Scope {
  teardown(action: () => void): void;
}

/** The largest image that nodes may fetch here. */
export const IMAGE_SIZE_MAX = 16 * MIB;

const SLOW = 32;
const BYTE_MS = 200;

export async function hostileRegistry(scope: Scope): Promise<HostileRegistry> {
  const registry = await startRegistry(scope);
  const { domain } = registry;
  const named = (name: string, imageHash: string): TestImage => ({
    image: `${domain}/${name}:1`,
    imageHash,
  });
  const random = (size: number) => layerOf({ 'file.bin': { bytes: randomBytes(size) } });

  registry.answer(/^GET \/v2\/slow\d+\/blobs/, (response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    const timer = setInterval(() => response.write(Buffer.alloc(1)), BYTE_MS);
    response.once('close', () => clearInterval(timer));
  });
  const slow: TestImage[] = [];
  for (let i = 0; i < SLOW; i++) {
    slow.push(named(`slow${i}`, registry.offerLayers(`slow${i}`, '1', [await random(1000)]).id));
  }

  const script = `#!/bin/sh\n# ${randomBytes(6).toString('hex')}\n`;
  const good = named('good', await registry.offer('good', '1', simpleFiles(script)));

  const zeros = await layerOf({ 'zeros.bin': { bytes: Buffer.alloc(12 * IMAGE_SIZE_MAX) } });
  const bomb = { ...zeros, bytes: gzipSync(zeros.bytes), type: ZIPPED_LAYER };
  const liar = { ...(await random(2 * IMAGE_SIZE_MAX)), size: 1000 };
  const huge = { ...(await random(1000)), size: IMAGE_SIZE_MAX + 1 };
  const { manifest, id } = registry.offerLayers('plain', '1', [await random(1000)]);
  const layers = (manifest['layers'] as object[]).map((layer) => ({ ...layer, size: undefined }));
  registry.offerManifest('unsized', '1', JSON.stringify({ ...manifest, layers }), MANIFEST);
  const big = (name: string, layer: typeof liar | typeof bomb) =>
    [named(name, registry.offerLayers(name, '1', [layer]).id), 'is too big'] as const;
  return {
    domain,
    slow,
    good,
    refused: [
      [named('unsized', id), 'is not usable'],
      big('huge', huge),
      big('liar', liar),
      big('bomb', bomb),
    ],
  };
}
