/** The log that a configuration names, for the node and for its signer. */
import { fileLog } from '../../adapters/file-log.ts';
import { LOG_LEVELS, type LogControl, stderrLog } from '../../adapters/log.ts';
import { StartError } from '../../base/faults/start-error.ts';
import type { LogLevel } from '../../base/ports/log.ts';
import type { Config } from '../../node/config/settings.ts';

/**
 * `suffix`: of the file, where a node of the same configuration has the file that it names. Two
 * processes that rotate one would delete each other's lines. Throws StartError where it cannot be opened.
 */
export function openLog(config: Config, suffix: '' | '.signer' = ''): LogControl {
  const { logFormat, logFile } = config;
  const { maxSize: bytesMax, files: filesMax } = logFile;
  const path = logFile.path === undefined ? undefined : `${logFile.path}${suffix}`;
  const isTerminal = path === undefined && process.stderr.isTTY === true;
  const isText = logFormat === 'auto' ? isTerminal : logFormat === 'text';
  if (path === undefined) return stderrLog(levelOf(config), isText);
  try {
    return fileLog(levelOf(config), isText, { path, bytesMax, filesMax });
  } catch (cause) {
    const remedy = 'make its folder, and let the user of the node write there';
    throw new StartError('log', 'log-file.path', cause, remedy);
  }
}

export function levelOf({ loggingLevel }: Pick<Config, 'loggingLevel'>): LogLevel {
  const { LOG_LEVEL: wins = '' } = process.env;
  const level = (wins === '' ? loggingLevel : wins).toLowerCase();
  return LOG_LEVELS.find((known) => known === level) ?? 'info';
}
