// SIGUSR1 changes the level of a log, there and back.
import t from 'tap';
import type { LogControl } from '../../../src/adapters/log.ts';
import { changeLevelBySignal } from '../../../src/cli/terminal/log-level.ts';

t.test('to debug, and back to info', (t) => {
  const events: unknown[] = [];
  let level = 'warn';
  const log = {
    level: () => level,
    setLevel: (to: string) => {
      level = to;
    },
    info: (event: string, fields: unknown) => events.push([event, fields]),
  };
  changeLevelBySignal(log as unknown as LogControl);
  t.teardown(() => process.removeAllListeners('SIGUSR1'));
  for (const to of ['debug', 'info', 'debug']) {
    process.emit('SIGUSR1', 'SIGUSR1');
    t.equal(level, to);
    t.strictSame(events.pop(), ['log.level', { to }]);
  }
  t.end();
});
