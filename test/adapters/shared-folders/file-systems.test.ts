// Which file systems other machines may have too.
import { join } from 'node:path';
import t from 'tap';
import {
  fileSystemOf,
  judgedFileSystem,
} from '../../../src/adapters/shared-folders/file-systems.ts';

t.test('by their numbers', (t) => {
  const shared: readonly [number, string][] = [
    [0x6969, 'NFS'],
    [0x517b, 'SMB'],
    [0xff534d42, 'SMB'],
    [0xfe534d42 - 2 ** 32, 'SMB'],
    [0xc36400, 'CephFS'],
    [0x5346414f, 'AFS'],
    [0x1021997, '9p'],
    [0xbd00bd0, 'Lustre'],
    [0x47504653, 'GPFS'],
  ];
  for (const [type, name] of shared) {
    t.strictSame(judgedFileSystem(type), { isShared: 'yes', name });
  }
  t.strictSame(judgedFileSystem(0x65735546), { isShared: 'perhaps', name: 'FUSE' });
  // ext4, XFS, Btrfs, ZFS, overlay, tmpfs.
  for (const type of [0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0x794c7630, 0x1021994]) {
    t.equal(judgedFileSystem(type).isShared, 'no');
  }
  t.end();
});

t.test('of a folder that is not there yet', (t) => {
  const folder = t.testdir();
  t.strictSame(fileSystemOf(join(folder, 'not', 'yet')), fileSystemOf(folder));
  t.end();
});
