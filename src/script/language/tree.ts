/**
 * The tree of a compiled script: what the compiler makes, the binary form holds and the evaluator
 * runs (docs/protocol/scripts.md#tree).
 */

/** The number of a native function, or the name of a user function or a constructor. */
export type Header = number | string;

export type Tree =
  | { readonly op: 'long'; readonly value: bigint }
  | { readonly op: 'bytes'; readonly value: Uint8Array }
  | { readonly op: 'string'; readonly value: string }
  | { readonly op: 'bool'; readonly value: boolean }
  | { readonly op: 'ref'; readonly name: string }
  | { readonly op: 'getter'; readonly of: Tree; readonly field: string }
  | { readonly op: 'if'; readonly test: Tree; readonly yes: Tree; readonly no: Tree }
  | { readonly op: 'block'; readonly name: string; readonly value: Tree; readonly body: Tree }
  | { readonly op: 'call'; readonly header: Header; readonly args: readonly Tree[] };

export const TRUE: Tree = { op: 'bool', value: true };
export const FALSE: Tree = { op: 'bool', value: false };

/** The nodes directly below a node, in the order of the binary form. */
export function partsOf(node: Tree): readonly Tree[] {
  switch (node.op) {
    case 'getter':
      return [node.of];
    case 'if':
      return [node.test, node.yes, node.no];
    case 'block':
      return [node.value, node.body];
    case 'call':
      return node.args;
    default:
      return NONE;
  }
}

const NONE: readonly Tree[] = [];

/** A node before its parts, and these in their order. No depth of a tree exhausts the stack. */
export function nodesOf(tree: Tree): readonly Tree[] {
  const nodes: Tree[] = [];
  const rest = [tree];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    nodes.push(node);
    const parts = partsOf(node);
    for (let i = parts.length - 1; i >= 0; i--) rest.push(parts[i]!);
  }
  return nodes;
}

/** Language versions of the expression dialect; the second one has the two sides of an order. */
export type Version = 1 | 2;

/** Account scripts see `proofs` and every transaction; asset scripts see what touches an asset. */
export type Context = 'account' | 'asset';

/** A text that is not a script: of the compiler, of the reader or of the estimator. */
export class ScriptError extends Error {
  override name = 'ScriptError';

  /** A refusal may show a part of a source, whose end may be half of a character. */
  constructor(text: string) {
    super(text.toWellFormed());
  }
}

/** How messages and the text form name a function. */
export const headerText = (header: Header): string =>
  typeof header === 'number' ? `Native(${header})` : `User(${header})`;

const ALWAYS = ['tx', 'height', 'unit'] as const;
const SIDES = ['Buy', 'Sell'] as const;

/** The names of the variables that every script of the version has. */
export const predefinedNames = (version: Version): readonly string[] =>
  version === 2 ? [...ALWAYS, ...SIDES] : ALWAYS;
