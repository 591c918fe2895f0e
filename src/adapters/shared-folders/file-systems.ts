/**
 * Which folders more than one machine can have open. The locks of a node hold within one kernel
 * only.
 */
import { statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

export interface FileSystem {
  /** `perhaps`: FUSE has both kinds. */
  readonly isShared: 'yes' | 'no' | 'perhaps';
  readonly name: string;
}

/** Numbers of statfs(2). */
const SHARED = new Map<number, string>([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xc36400, 'CephFS'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x1021997, '9p'],
  [0xbd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x1161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
  [0x19830326, 'BeeGFS'],
  [0x786f4256, 'VirtualBox folders'],
  [0xbacbacbc, 'VMware folders'],
]);
const FUSE = 0x65735546;

/** `type` may have a sign, as it has in some kernels. */
export function judgedFileSystem(type: number): FileSystem {
  const number = type >>> 0;
  const name = SHARED.get(number);
  if (name !== undefined) return { isShared: 'yes', name };
  if (number === FUSE) return { isShared: 'perhaps', name: 'FUSE' };
  return { isShared: 'no', name: `0x${number.toString(16)}` };
}

/** That of the path, or of the nearest folder above that is there. */
export function fileSystemOf(path: string): FileSystem {
  // Elsewhere the numbers mean something else.
  if (process.platform !== 'linux') return { isShared: 'no', name: process.platform };
  for (let at = resolve(path); ; at = dirname(at)) {
    try {
      return judgedFileSystem(statfsSync(at).type);
    } catch (cause) {
      if (dirname(at) === at) throw cause;
    }
  }
}
