/** The level of the log of a process that runs on. */
import type { LogControl } from '../../adapters/log.ts';

/** SIGUSR1 switches to debug, and from there back to info. */
export function changeLevelBySignal(log: LogControl): void {
  process.on('SIGUSR1', () => {
    const to = log.level() === 'debug' ? 'info' : 'debug';
    log.setLevel(to);
    log.info('log.level', { to });
  });
}
