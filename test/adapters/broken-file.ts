/** Files whose next write fails, by no lack of room. */
import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs';

const OPEN = '/proc/self/fd';
/** Whether this system can break a file. */
export const breaksFiles = process.platform === 'linux';

/**
 * Puts a file that only can be read in the place of the open one at this path: the next write of its
 * owner fails with EBADF, which says as little of the disk as EIO. Its owner may close it.
 */
export function breakFile(path: string): void {
  const found = readdirSync(OPEN).find((fd) => pathOf(fd) === path);
  if (found === undefined) throw new Error(`${path} is not open`);
  closeSync(Number(found));
  const others: number[] = [];
  for (;;) {
    const fd = openSync('/dev/null', 'r');
    if (fd === Number(found)) break;
    others.push(fd);
  }
  for (const fd of others) closeSync(fd);
}

function pathOf(fd: string): string | undefined {
  try {
    return readlinkSync(`${OPEN}/${fd}`);
  } catch {
    // The listing itself was open, and is no longer.
    return undefined;
  }
}
