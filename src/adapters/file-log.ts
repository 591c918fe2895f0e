/** The log in a file that is rotated by size, where neither journald nor a container engine keeps it. */
import type { LogLevel } from '../base/ports/log.ts';
import { type LogControl, lineLog } from './log.ts';
import { RotatingFile, type RotatingFileOptions } from './rotating-file.ts';

/** Throws where the file cannot be opened. What the disk refuses is said on standard error. */
export function fileLog(
  level: LogLevel,
  pretty: boolean,
  options: RotatingFileOptions,
): LogControl {
  const file = new RotatingFile(options, (why) => {
    const state = why === undefined ? 'works again' : `cannot be written: ${why.message}`;
    console.error(`the log '${options.path}' ${state}`);
  });
  file.start();
  return {
    ...lineLog({ level, pretty, colours: false }, (line) => void file.write(line)),
    reopen: () => file.reopen(),
    flush: () => file.flush(),
    close: () => file.stop(),
  };
}
