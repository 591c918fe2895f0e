/**
 * The output of commands. Answers are JSON on stdout: indented on a terminal, one line for each
 * value in a pipe. Messages go to stderr. Colours are used only on a terminal, and never with
 * NO_COLOR.
 */
import { stringify } from '../../base/json.ts';

export function printJson(value: unknown): void {
  console.log(stringify(value, process.stdout.isTTY ? 2 : undefined));
}

/** A message for people. */
export function say(message: string): void {
  console.error(message);
}

const CODES = { red: 31, green: 32, yellow: 33, dim: 2, bold: 1 } as const;

export function colour(
  name: keyof typeof CODES,
  text: string,
  stream: { isTTY?: boolean } = process.stderr,
): string {
  const off = process.env['NO_COLOR'] !== undefined && process.env['NO_COLOR'] !== '';
  return stream.isTTY === true && !off ? `\x1b[${CODES[name]}m${text}\x1b[0m` : text;
}

export function warn(message: string): void {
  say(`${colour('yellow', 'warning')}: ${message}`);
}
