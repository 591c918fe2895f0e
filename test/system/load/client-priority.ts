/**
 * Clients stand for some on other machines, so they should share no processor with the node. Where
 * the system forbids a priority, the figures have the delay of the client in them.
 */
import { constants, setPriority } from 'node:os';

const { PRIORITY_HIGHEST, PRIORITY_BELOW_NORMAL } = constants.priority;

/** A client that measures: it never waits for a processor that the node or a load holds. */
export function runFirst(pid: number): void {
  try {
    setPriority(pid, PRIORITY_HIGHEST);
  } catch {
    // Only an administrator may.
  }
}

/** A client that sends as much as the node answers: it leaves the node the processor. */
export const runAfter = (pid: number): void => setPriority(pid, PRIORITY_BELOW_NORMAL);
