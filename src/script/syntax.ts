/**
 * The tree of a source before its types are known (docs/protocol/scripts.md#grammar). The parser
 * has already rewritten `&&`, `||`, `<`, `<=`, unary signs and indexes.
 */
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
