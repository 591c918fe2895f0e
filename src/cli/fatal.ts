/**
 * What nobody caught means that the node itself is wrong: it says so and ends with code 70 rather
 * than go on with a wrong state. The store loses nothing that was acknowledged.
 */
import type { LogControl } from '../adapters/log.ts';
import { EXIT } from './exit.ts';

export function endOnFailure(log: LogControl): void {
  process.once('uncaughtException', (cause) => {
    log.error('node.failed', { why: cause.stack ?? cause.message });
    log.flush();
    process.exit(EXIT.assertion);
  });
}
