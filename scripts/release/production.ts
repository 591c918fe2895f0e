/**
 * The dependencies that the running node needs, as `npm ci` has installed them: those that the lock file
 * does not mark as needed for development alone, with the addons of this platform and of this Node.
 */
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

interface Locked {
  readonly dev?: boolean;
  readonly link?: boolean;
}

/** Types and maps are for those who change the code. */
const FOR_DEVELOPERS = /\.(d\.[cm]?ts|map)$/;

/** Copies `node_modules` of the checkout at `root` to the same folder below `target`. */
export function copyProductionTree(root: string, target: string): void {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, Locked>> };
  for (const [path, { dev, link }] of Object.entries(packages)) {
    const isNeeded = path !== '' && dev !== true && link !== true;
    // Optional dependencies of other platforms are not installed.
    if (!isNeeded || !existsSync(join(root, path))) continue;
    cpSync(join(root, path), join(target, path), {
      recursive: true,
      // The packages in its own node_modules are entries of their own.
      filter: (file) => basename(file) !== 'node_modules' && isOfThisPlatform(file),
    });
  }
}

/** Two packages bring their addons for all platforms, one for other releases of Node too. */
export function isOfThisPlatform(path: string): boolean {
  if (FOR_DEVELOPERS.test(path)) return false;
  const { arch, platform, versions } = process;
  const [, uws] = /\/uws-pack\/dist\/bin\/(uws_.*\.node)$/.exec(path) ?? [];
  if (uws !== undefined) return uws === `uws_${platform}_${arch}_${versions.modules}.node`;
  const [, prebuilt, addon] = /\/sodium-native\/prebuilds\/([^/]+)(\/.*)?$/.exec(path) ?? [];
  if (prebuilt !== undefined) {
    return prebuilt === `${platform}-${arch}` && addon?.endsWith('.bare') !== true;
  }
  const [, abi, libc] = /\/@lmdb\/.*\/node\.(abi\d+|napi)\.(\w+)\.node$/.exec(path) ?? [];
  return (
    abi === undefined || (libc === 'glibc' && [`abi${versions.modules}`, 'napi'].includes(abi))
  );
}
