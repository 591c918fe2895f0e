/**
 * Log lines on standard error: JSON for machines, one aligned line for a person on a terminal.
 * Standard output is only for the results of commands, so this file never writes there.
 *
 * A line is `level`, `time`, `event` and then the fields of the event. Invariant: a field whose
 * name marks a secret is never printed.
 */
import pino from 'pino';
import { integer } from '../base/json/json.ts';
import type { Log, LogFields, LogLevel } from '../base/ports/log.ts';
import { visible } from '../base/visible.ts';

const STDERR = 2;
const HIDDEN = '***';
const WAITING_CHARS_MAX = 4 * 1024 * 1024;

/** Begins the line of a terminal anew, over a line that is written again and again. */
export const ANEW = '\r\x1b[K';

export const LOG_LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export interface LogControl extends Log {
  level(): LogLevel;
  setLevel(level: LogLevel): void;
  /** A file that was renamed is left; the next line goes to another one at its path. */
  reopen(): void;
  /** Writes buffered lines. */
  flush(): void;
  /** Writes buffered lines and closes the file. */
  close(): Promise<void>;
}

export interface LineOptions {
  readonly level: LogLevel;
  /** Lines for people; otherwise JSON. */
  readonly pretty: boolean;
  readonly colours: boolean;
}

export function stderrLog(level: LogLevel, pretty: boolean): LogControl {
  const destination = pino.destination({
    dest: STDERR,
    sync: false,
    minLength: 0,
    maxLength: WAITING_CHARS_MAX,
  });
  // The node works on where standard error goes to a full disk: lines wait, and surplus lines are
  // dropped.
  let isRefused = false;
  destination.on('error', () => {
    isRefused = true;
  });
  destination.on('write', () => {
    isRefused = false;
  });
  // The method would retry for ever and block the whole process, even while it ends.
  const flushSync = destination.flushSync.bind(destination);
  destination.flushSync = () => {
    if (!isRefused) flushSync();
  };
  const begin = process.stderr.isTTY === true ? ANEW : '';
  const noColour = process.env['NO_COLOR'];
  const colours = pretty && (noColour === undefined || noColour === '');
  const flush = (): void => {
    try {
      destination.flushSync();
    } catch {
      // Standard error is gone, so the error cannot be reported.
    }
  };
  return {
    ...lineLog({ level, pretty, colours }, (line) => destination.write(begin + line)),
    // It is not ours to open.
    reopen: () => undefined,
    flush,
    close: async () => flush(),
  };
}

/** The same for any function that writes a line. */
export function lineLog(
  options: LineOptions,
  write: (line: string) => void,
): Omit<LogControl, 'reopen' | 'flush' | 'close'> {
  const line = options.pretty ? prettyLine : jsonLine;
  let lowest = LOG_LEVELS.indexOf(options.level);
  const at = (level: LogLevel) => {
    const own = LOG_LEVELS.indexOf(level);
    return (event: string, fields: LogFields = {}): void => {
      if (own >= lowest) write(line(level, event, fields, options.colours));
    };
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    level: () => LOG_LEVELS[lowest] ?? 'info',
    setLevel(next) {
      lowest = LOG_LEVELS.indexOf(next);
    },
  };
}

const SECRET = /passw|secret|seed|private-?_?key(?!hash)|api-?_?key(?!-?hash)|phrase|mnemonic/i;

function shown(key: string, value: unknown): unknown {
  if (SECRET.test(key) && value !== undefined) return HIDDEN;
  if (typeof value === 'bigint') return integer(value);
  return value instanceof Error ? (value.stack ?? String(value)) : value;
}

/** A field that cannot be printed must not remove the rest of the line. */
function text(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, shown);
  } catch (error) {
    return JSON.stringify(`(${String(error)})`);
  }
}

function jsonLine(level: LogLevel, event: string, fields: LogFields): string {
  const time = new Date().toISOString();
  let line = `{"level":"${level}","time":"${time}","event":${JSON.stringify(event)}`;
  for (const key of Object.keys(fields)) {
    const value = text(shown(key, fields[key]));
    if (value !== undefined) line += `,${JSON.stringify(key)}:${value}`;
  }
  return `${line}}\n`;
}

const COLOURS: Record<LogLevel, string> = { debug: '90', info: '32', warn: '33', error: '31' };
const EVENT_WIDTH = 20;

function prettyLine(level: LogLevel, event: string, fields: LogFields, colours: boolean): string {
  const time = new Date().toISOString().slice(11, 23);
  const paint = (code: string, word: string) => (colours ? `\x1b[${code}m${word}\x1b[0m` : word);
  const parts = Object.keys(fields).flatMap((key) => {
    const value = prettyValue(shown(key, fields[key]));
    return value === undefined ? [] : [`${paint('90', `${key}=`)}${value}`];
  });
  const tag = paint(COLOURS[level], level.toUpperCase().padEnd(5));
  return `${`${paint('90', time)} ${tag} ${event.padEnd(EVENT_WIDTH)} ${parts.join(' ')}`.trimEnd()}\n`;
}

/** Plain words have no quotes; text that could be misread is quoted. */
function prettyValue(value: unknown): string | undefined {
  if (typeof value === 'string' && /^[^\s"=\p{C}]+$/u.test(value)) return value;
  const quoted = text(value);
  return quoted === undefined ? undefined : visible(quoted);
}
