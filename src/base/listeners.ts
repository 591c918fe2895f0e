/** Calls the listeners of an event. */
import { isOurs } from './assert.ts';
import type { Log } from './ports/log.ts';

/**
 * Calls every listener. An error of one listener is logged and does not affect the others. A fault
 * of this node is thrown on.
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
