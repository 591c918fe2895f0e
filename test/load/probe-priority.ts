/**
 * A client that measures stands for one on another machine, so it must not wait for a processor
 * that the node or the load holds. Where the system forbids it, its own delay is in its figures.
 */
import { constants, setPriority } from 'node:os';

/** For the main thread of this process; false where that is not permitted. */
export function runFirst(pid: number): boolean {
  try {
    setPriority(pid, constants.priority.PRIORITY_HIGHEST);
    return true;
  } catch {
    return false;
  }
}
