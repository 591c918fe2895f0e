/** Calls the listeners of an event. */
import { isOurs } from './assert.ts';
import type { Log } from './ports.ts';

/**
 * Tells all of them. One that fails costs neither the others nor the teller anything but a line in
 * the log; a fault of this node is thrown on.
 */
export function tellAll<L>(listeners: Iterable<L>, log: Log, tell: (listener: L) => void): void {
  for (const listener of listeners) {
    try {
      tell(listener);
    } catch (cause) {
      if (isOurs(cause)) throw cause;
      log.error('listener.failed', { why: String(cause) });
    }
  }
}
