/**
 * Streams of documents for the tx commands: each input gives one output, in the same order, and a
 * failure takes the place of its result.
 *
 * Invariant: with --ndjson at most `concurrency` documents are in memory at once.
 */

import { ApiError, apiError } from '../../base/errors.ts';
import { isObject, parse, stringify } from '../../base/json/json.ts';
import { CodecError } from '../../codec/codec.ts';
import { refusalOf } from '../../codec/refusal.ts';
import { RefusedError } from '../../rest-framework/client.ts';
import { CliError, EXIT } from './exit.ts';
import { readAll, readLines, withoutMark } from './lines.ts';
import { isForPerson, printJson } from './output.ts';
import { refusalLine } from './refusal-line.ts';

/** The documents of a JSON input: lines with --ndjson, else one value or the items of a list. */
export async function* jsonDocuments(
  source: string,
  ndjson: boolean,
): AsyncGenerator<() => unknown> {
  if (ndjson) {
    for await (const line of readLines(source)) yield () => parseJson(line);
    return;
  }
  yield* documentsOf(await readAll(source));
}

/** One value, the items of a list, or one value a line. */
export function* documentsOf(given: string): Generator<() => unknown> {
  const text = withoutMark(given);
  if (text.trim() === '') throw new CliError('The input is empty');
  let whole: unknown;
  try {
    whole = parse(text);
  } catch {
    // Several lines that are not one document may each be one.
    for (const line of text.split('\n')) if (line.trim() !== '') yield () => parseJson(line);
    return;
  }
  for (const item of Array.isArray(whole) ? whole : [whole]) yield () => item;
}

export function parseJson(text: string): unknown {
  try {
    return parse(withoutMark(text));
  } catch {
    throw apiError('MalformedJson');
  }
}

/** Runs `convert` on every document and prints the results in order. */
export async function convertAll(
  documents: AsyncIterable<() => unknown>,
  convert: (document: unknown) => unknown | Promise<unknown>,
  concurrency = 1,
): Promise<void> {
  const running: Promise<unknown>[] = [];
  const printNext = async (): Promise<void> => {
    const result = await running.shift();
    await print(result);
  };
  for await (const document of documents) {
    const result = guarded(async () => convert(document()));
    // The first caller that awaits gets the failure; later failures are dropped.
    result.catch(() => undefined);
    running.push(result);
    if (running.length >= concurrency) await printNext();
  }
  while (running.length > 0) await printNext();
}

async function guarded(job: () => Promise<unknown>): Promise<unknown> {
  try {
    return await job();
  } catch (cause) {
    process.exitCode = EXIT.failure;
    return failureLine(cause);
  }
}

/** {"error": code, "message": text}, in the form of a node's answer. */
function failureLine(cause: unknown): Record<string, unknown> {
  if (cause instanceof CodecError) {
    // Code 1 means a wrong shape of JSON; bytes that do not decode are just invalid.
    return cause.path === 'bytes' && cause.api === undefined
      ? apiError('Invalid', cause.why).body
      : refusalOf(cause).body;
  }
  if (cause instanceof ApiError) return cause.body;
  if (cause instanceof RefusedError) return refusalLine(cause);
  throw cause;
}

async function print(value: unknown): Promise<void> {
  if (isForPerson()) return printJson(value);
  // Waits for a slow reader, so that the memory stays bounded.
  if (process.stdout.write(`${stringify(value)}\n`)) return;
  await new Promise<void>((resolve) => process.stdout.once('drain', resolve));
}

/** The number of an option such as --concurrency. */
export function positive(text: string, name: string, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new CliError(`${name} = ${text}: expected a number from 1 to ${max}`, EXIT.usage);
}

/** A line with bare text or, from another command, with an object or a quoted text. */
export function fieldOf(text: string, field: string): string {
  const whole = withoutMark(text);
  if (!/^["{]/.test(whole)) return whole;
  const json = parseJson(whole);
  const value = isObject(json) ? json[field] : json;
  if (typeof value !== 'string') throw apiError('Invalid', `'${field}' is missing`);
  return value;
}
