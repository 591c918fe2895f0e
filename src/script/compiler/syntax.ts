/**
 * The tree of a source before its types are known (docs/protocol/scripts.md#grammar). The parser
 * has already rewritten `&&`, `||`, `<`, `<=`, unary signs and indexes.
 */
import { caseTypes } from '../language/case-types.ts';
import { breadth, NOTHING } from '../language/types.ts';

export type Syntax = { readonly depth: number } & (
  | { readonly is: 'long'; readonly value: bigint }
  | { readonly is: 'bytes'; readonly value: Uint8Array }
  | { readonly is: 'string'; readonly value: string }
  | { readonly is: 'bool'; readonly value: boolean }
  | { readonly is: 'name'; readonly name: string }
  | { readonly is: 'field'; readonly of: Syntax; readonly field: string }
  | { readonly is: 'if'; readonly test: Syntax; readonly yes: Syntax; readonly no: Syntax }
  | { readonly is: 'let'; readonly name: string; readonly value: Syntax; readonly body: Syntax }
  | { readonly is: 'call'; readonly name: string; readonly args: readonly Syntax[] }
  | { readonly is: 'match'; readonly of: Syntax; readonly cases: readonly Case[] }
);

export interface Case {
  /** Undefined for `_`. */
  readonly variable: string | undefined;
  /** Empty: every type. */
  readonly types: readonly string[];
  readonly body: Syntax;
}

/**
 * What the node takes in the binary form, without the nodes below it: at least this many bytes. The
 * compiler adds to that, and removes nothing but what follows a case for every type.
 */
export function leastBytes(node: Syntax): number {
  switch (node.is) {
    case 'bool':
    case 'if':
      return 1;
    case 'long':
      return 9;
    case 'bytes':
    case 'string':
      return 5 + node.value.length;
    case 'name':
    case 'let':
      return 5 + node.name.length;
    case 'field':
      return 5 + node.field.length;
    case 'call':
      return 8;
    case 'match':
      return node.cases.reduce((sum, { types }) => sum + BYTES_PER_TEST * testsOf(types), 5);
  }
}

/** A call with a reference and a text. */
const BYTES_PER_TEST = 8 + 5 + 5;

/** A name may stand for several types; it stands for the same in both contexts. */
function testsOf(names: readonly string[]): number {
  const { named } = caseTypes('account');
  return names.reduce((sum, name) => sum + breadth(named.get(name) ?? NOTHING), 0);
}
