/** The folder of a release. It may have other files, which stay. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export const CHECKSUMS = 'SHA256SUMS';
const RELEASED = /^(platform-node-.*\.tgz|platform-node_.*\.deb)$/;

/** Takes away what an earlier run has made, but `kept`: an image is made of the one package that is there. */
export function clearReleased(folder: string, kept?: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if ((RELEASED.test(name) || name === CHECKSUMS) && path !== kept) rmSync(path);
  }
}
