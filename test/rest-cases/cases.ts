/**
 * The conformance cases of the REST API: their content (rest.md#conformance-cases) and the work for
 * which they wait.
 */
import { readFileSync } from 'node:fs';
import { parse } from '../../src/base/json/json.ts';

export interface RestCase {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'OPTIONS';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** null: none; a string: as it is, or one placeholder; anything else: JSON. */
  readonly body: unknown;
  readonly expectStatus: number | readonly number[];
  readonly expectJsonSubset?: unknown;
  readonly expectShape?: Readonly<Record<string, string>>;
  readonly expectText?: string;
  readonly expectHeaders?: Readonly<Record<string, unknown>>;
  readonly needs: string;
}

export function loadCases(): readonly RestCase[] {
  const file = new URL('../vectors/rest-cases.json', import.meta.url);
  return parse(readFileSync(file, 'utf8')) as readonly RestCase[];
}

/** The work that will make a kind of case possible. */
const waitsFor: Readonly<Record<string, string>> = {
  contract: 'a container engine',
  'contract-with-key': 'a container engine',
  'contract-call': 'a container engine',
  peer: 'network',
  'registered-node-key': 'network',
  'handshake-check-on': 'network',
  pos: 'network',
};

/** Why a case cannot run with what is available; undefined if it can. */
export function skipReason(item: RestCase, available: ReadonlySet<string>): string | undefined {
  const { needs } = item;
  if (available.has(needs)) return undefined;
  return waitsFor[needs] ?? `needs ${needs}`;
}
