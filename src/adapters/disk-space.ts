/** The free space of the file system that holds a folder, for users without privileges. */
import { statfs } from 'node:fs/promises';
import type { DiskSpace } from '../base/ports.ts';

export const diskSpace = (folder: string): DiskSpace => ({
  async freeBytes() {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  },
});
