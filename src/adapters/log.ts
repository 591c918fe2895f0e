/**
 * Log lines on standard error: JSON for machines, one aligned line for a person on a terminal.
 * Results of commands own standard output, so nothing here ever writes there.
 */
import pino from 'pino';
import { stringify } from '../base/json.ts';
import type { Log, LogFields, LogLevel } from '../base/ports.ts';

const STDERR = 2;

export interface LogControl extends Log {
  setLevel(level: LogLevel): void;
  /** Writes out what is still buffered. */
  flush(): void;
}

export function stderrLog(level: LogLevel, pretty: boolean): LogControl {
  const destination = pino.destination({ dest: STDERR, sync: false, minLength: 0 });
  const logger = pretty
    ? undefined
    : pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
  let lowest = order.indexOf(level);

  const write = (at: LogLevel, event: string, fields: LogFields = {}): void => {
    if (order.indexOf(at) < lowest) return;
    if (logger !== undefined) logger[at]({ ...plain(fields) }, event);
    else destination.write(prettyLine(at, event, fields));
  };
  return {
    debug: (event, fields) => write('debug', event, fields),
    info: (event, fields) => write('info', event, fields),
    warn: (event, fields) => write('warn', event, fields),
    error: (event, fields) => write('error', event, fields),
    setLevel(next) {
      lowest = order.indexOf(next);
      if (logger !== undefined) logger.level = next;
    },
    flush() {
      try {
        destination.flushSync();
      } catch {
        // Standard error is gone; there is nowhere left to say so.
      }
    },
  };
}

function plain(fields: LogFields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      typeof value === 'bigint' ? value.toString() : value,
    ]),
  );
}

const COLOURS: Record<LogLevel, string> = { debug: '90', info: '32', warn: '33', error: '31' };

function prettyLine(level: LogLevel, event: string, fields: LogFields): string {
  const time = new Date().toISOString().slice(11, 23);
  const coloured = process.env.NO_COLOR === undefined;
  const tag = level.toUpperCase().padEnd(5);
  const head = coloured ? `\x1b[${COLOURS[level]}m${tag}\x1b[0m` : tag;
  const rest = Object.entries(fields)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : stringify(value)}`)
    .join(' ');
  return `${time} ${head} ${event.padEnd(20)} ${rest}\n`;
}
