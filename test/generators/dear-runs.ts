/** Scripts that take many units, whatever their complexity says. */
import { generalHashes } from '../../src/crypto/general-hashes.ts';
import type { Environment } from '../../src/script/evaluation/environment.ts';
import { Meter, UNMETERED } from '../../src/script/evaluation/meter.ts';
import { writeScript } from '../../src/script/language/binary.ts';
import { TRUE, type Tree } from '../../src/script/language/tree.ts';
import { createScripts } from '../../src/script/script.ts';
import { family } from './network.ts';

const FIRST_LETTERS = 63;
const DOUBLINGS = 9;
const TO_BYTES = 411;
const JOIN = 300;
const EQUAL = 0;

const ref = (name: string): Tree => ({ op: 'ref', name });
const block = (name: string, value: Tree, body: Tree): Tree => ({ op: 'block', name, value, body });
const call = (header: number | string, ...args: Tree[]): Tree => ({ op: 'call', header, args });

/**
 * A script of little complexity that gives the bytes of a text of 31.5 KiB this often, at most 550 times,
 * and then says `result`: no other call takes so many units for so little time. A constructor drops what it has no fields for, but evaluates it. A variable that another
 * one hides costs nothing in the estimate.
 */
function encoding(times: number, result = true): Uint8Array {
  const args = Array.from({ length: times }, () => call(TO_BYTES, ref(nameOf(DOUBLINGS))));
  const last: Tree = { op: 'bool', value: result };
  let tree: Tree = { op: 'if', test: call(EQUAL, ref('y'), ref('y')), yes: last, no: last };
  tree = block('x', call('Alias', ...args), block('y', ref('x'), block('x', TRUE, tree)));
  for (let i = DOUBLINGS; i > 0; i--) {
    const half = ref(nameOf(i - 1));
    tree = block(nameOf(i), call(JOIN, half, half), tree);
  }
  const first: Tree = { op: 'string', value: 'x'.repeat(FIRST_LETTERS) };
  return writeScript(1, block(nameOf(0), first, tree), family.secureHash);
}

/** A script of about so many units. */
export function taking(units: number, result = true): Uint8Array {
  const first = unitsOf(encoding(1));
  const each = unitsOf(encoding(2)) - first;
  return encoding(1 + Math.round((units - first) / each), result);
}

/** What a run of such a script takes. */
export function unitsOf(script: Uint8Array): number {
  const { secureHash, charges } = family;
  const meter = new Meter(UNMETERED);
  const env = { hashes: { ...generalHashes, secureHash, charges } } as Environment;
  createScripts(secureHash).read(script).program.run(env, meter);
  return meter.used;
}

const nameOf = (doublings: number): string => String.fromCharCode('a'.charCodeAt(0) + doublings);
