/**
 * What a call of the simple interface means: the exit code of its script and the last line that it
 * printed (contracts.md#the-simple-interface).
 */

import { decodeBase64 } from '../../base/base64.ts';
import { concat } from '../../base/bytes.ts';
import { isI64 } from '../../base/int.ts';
import { isObject } from '../../base/json/json.ts';
import { parseExactly } from '../../base/json/json-exact.ts';
import type { ContractFailure, ContractOutcome, DataEntry } from '../../base/ports/containers.ts';
import { Failed } from './failures.ts';

/** The script refuses the call, and its last line is the message. */
export const BUSINESS_ERROR = 3;
/** Messages are cut to 1000 characters later; this leaves room for what is around them. */
const SHOWN_CHARS_MAX = 900;
const DEPTH_MAX = 2;
const VALUES_MAX = 50_000;

export function execResult(exitCode: number, output: Uint8Array): ContractOutcome {
  const stdout = new TextDecoder().decode(output);
  if (exitCode === 0) return results(lastLine(stdout));
  if (exitCode === BUSINESS_ERROR) {
    return { kind: 'error', code: exitCode, message: shown(lastLine(stdout)) };
  }
  const message = `Contract process was failed with code '${exitCode}': ${shown(stdout.trim())}`;
  return { kind: 'error', code: exitCode, message };
}

/** The last line that is not empty; the others are not looked at, of which there may be a million. */
function lastLine(text: string): string {
  const trimmed = text.trimEnd();
  const start = Math.max(trimmed.lastIndexOf('\n'), trimmed.lastIndexOf('\r')) + 1;
  return trimmed.slice(start).trim();
}

function results(line: string): ContractOutcome {
  if (line === '') return { kind: 'success', results: [] };
  const quoted = `Can't parse and validate contract execution result '${shown(line)}'`;
  let list: unknown;
  try {
    list = parseExactly(line, DEPTH_MAX, VALUES_MAX);
  } catch {
    return wrongResult(`${quoted} as JSON`);
  }
  const entries = Array.isArray(list) ? list.map(dataEntry) : [undefined];
  return entries.every((entry) => entry !== undefined)
    ? { kind: 'success', results: entries }
    : wrongResult(`${quoted} as results array`);
}

function dataEntry(of: unknown): DataEntry | undefined {
  if (!isObject(of)) return undefined;
  const { key, type, value } = of;
  if (typeof key !== 'string') return undefined;
  if (type === 'integer' && (typeof value === 'bigint' || Number.isSafeInteger(value))) {
    const exact = BigInt(value as number | bigint);
    return isI64(exact) ? { key, type, value: exact } : undefined;
  }
  if (type === 'boolean' && typeof value === 'boolean') return { key, type, value };
  if (type === 'string' && typeof value === 'string') return { key, type, value };
  const bytes = type === 'binary' && typeof value === 'string' ? decoded(value) : undefined;
  return bytes && { key, type: 'binary', value: bytes };
}

const PREFIX = 'base64:';

function decoded(text: string): Uint8Array | undefined {
  if (!text.startsWith(PREFIX)) return undefined;
  const pieces: Uint8Array[] = [];
  const steps = decodeBase64(text.slice(PREFIX.length));
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value ? concat(...pieces) : undefined;
    pieces.push(value);
  }
}

const shown = (text: string): string => text.slice(0, SHOWN_CHARS_MAX);

/** The contract did something that is neither a result nor a refusal. */
export const wrongResult = (message: string): ContractFailure => ({
  kind: 'failure',
  message,
  recoverable: false,
  system: false,
});

/** The same, for what leaves its container in a state in which no other call should run. */
export const brokenCall = (message: string): Failed => new Failed(wrongResult(message));
