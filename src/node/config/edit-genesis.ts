/**
 * Writes the three signed values into the text of a configuration file (blocks.md#signing step 3).
 *
 * Invariants: outside these three values no byte changes; comments, indentation, line ends and the
 * delimiter style stay; a missing key is added beside its siblings in their style.
 */
import { mapText, type TextEntry, type TextMap } from './text-map.ts';

export interface SignedGenesis {
  readonly signature: string;
  readonly publicKey: string;
  readonly timestamp: number;
}

/** The possible places of a genesis section, the longer spelling first. */
const PLACES = [
  'node.blockchain.custom.genesis',
  'blockchain.custom.genesis',
  'node.genesis',
  'genesis',
];

/** The text with the three values in place; undefined if it has no genesis section. */
export function editGenesis(text: string, signed: SignedGenesis): string | undefined {
  const values: readonly [string, string][] = [
    ['signature', `"${signed.signature}"`],
    ['genesis-public-key-base-58', `"${signed.publicKey}"`],
    ['block-timestamp', String(signed.timestamp)],
  ];
  let edited = text;
  for (const [key, value] of values) {
    const next = putValue(edited, mapText(edited), key, value);
    if (next === undefined) return undefined;
    edited = next;
  }
  return edited;
}

function putValue(text: string, map: TextMap, key: string, value: string): string | undefined {
  const paths = PLACES.map((place) => `${place}.${key}`);
  const present = map.entries.filter((entry) => paths.includes(entry.path.join('.')));
  if (present.length > 0) {
    // Every occurrence is replaced, so that none of them restores the old value.
    return present.reduceRight(
      (edited, { valueStart, valueEnd }) =>
        edited.slice(0, valueStart) + value + edited.slice(valueEnd),
      text,
    );
  }
  const sibling = map.entries.find((entry) => PLACES.includes(entry.path.slice(0, -1).join('.')));
  return sibling === undefined ? undefined : insertBefore(text, sibling, key, value);
}

function insertBefore(text: string, sibling: TextEntry, key: string, value: string): string {
  const { keyStart, keyEnd, valueStart } = sibling;
  // `genesis.initial-balance = …` keeps its prefix: genesis.signature = …
  const written = text.slice(keyStart, keyEnd).trimEnd();
  const prefix = /^(.*\.)?[^.]*$/s.exec(written)?.[1] ?? '';
  const between = text.slice(keyStart + written.length, valueStart);
  const delimiter = /^[ \t]*[:=][ \t]*$/.test(between) ? between : ' = ';
  const lineStart = text.lastIndexOf('\n', keyStart - 1) + 1;
  const indent = text.slice(lineStart, keyStart);
  const quoted = written.endsWith(`"`) ? `"${key}"` : key;
  const pair = prefix + quoted + delimiter + value;
  if (/^[ \t]*$/.test(indent)) {
    const lineEnd = /\r\n/.test(text) ? '\r\n' : '\n';
    // JSON needs commas at line ends; HOCON accepts them too.
    const comma = isJson(text) ? ',' : '';
    return `${text.slice(0, keyStart)}${pair}${comma}${lineEnd}${indent}${text.slice(keyStart)}`;
  }
  return `${text.slice(0, keyStart)}${pair}, ${text.slice(keyStart)}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
