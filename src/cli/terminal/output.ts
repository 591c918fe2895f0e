/**
 * The output of commands. Answers are JSON on stdout: indented on a terminal, one line for each
 * value in a pipe. Messages go to stderr. Colours are used only on a terminal, and never with
 * NO_COLOR.
 */
import { stringify } from '../../base/json/json.ts';
import { visibleLines } from '../../base/visible.ts';

/** What the old names of the generators add to the command: print the texts that they printed. */
export const AS_BEFORE = '--as-before';

let isJsonAsked = false;

/** `--json`: as in a pipe, also on a terminal. */
export function askForJson(): void {
  isJsonAsked = true;
}

/** A person reads the answers. */
export const isForPerson = (): boolean => process.stdout.isTTY === true && !isJsonAsked;

export function printJson(value: unknown): void {
  console.log(isForPerson() ? visibleLines(stringify(value, 2) ?? '') : stringify(value));
}

/** A document that is no JSON, such as a script; with `--json` a JSON text. */
export function printDocument(text: string): void {
  if (isJsonAsked) printJson(text);
  else process.stdout.write(text);
}

/** A message for people. */
export function say(message: string): void {
  console.error(message);
}

/** A summary as the description of a command. */
export const sentence = (text: string): string =>
  `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}.`;

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
