/**
 * Compiled scripts as a text, so that a recipe can tell them, those included that no source
 * compiles to.
 *
 *   (let name value body)   (if test yes no)   (. record field)
 *   (#500 a b c)            a native function by its number
 *   (isDefined a)           a user function or a constructor by its name
 *   12   true   "text"   0x0aff   "ab"*100   0x00*1024   name
 */
import { writeScript } from '../../../../src/script/language/binary.ts';
import type { Tree } from '../../../../src/script/language/tree.ts';

/** A word may be a name where a tree is not meant. */
type Item = string | Tree;

/** What words other than names stand for. */
export type Words = Readonly<Record<string, string>>;

const TOKEN = /\s*(\(|\)|"(?:[^"\\]|\\.)*"(?:\*\d+)?|[^\s()"]+)/y;

export class NotationError extends Error {
  override name = 'NotationError';
}

/** Throws NotationError. Nothing here recurses, since scripts may be deep. */
export function treeOf(text: string, words: Words = {}): Tree {
  const open: Item[][] = [];
  let whole: Item | undefined;
  for (TOKEN.lastIndex = 0; ; ) {
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined) break;
    if (token === '(') {
      open.push([]);
      continue;
    }
    const item = token === ')' ? formed(open.pop()) : (words[token] ?? token);
    const around = open.at(-1);
    if (around !== undefined) around.push(item);
    else if (whole === undefined) whole = item;
    else throw new NotationError('more than one expression');
  }
  if (whole === undefined || open.length > 0) throw new NotationError('an open bracket');
  return tree(whole);
}

function formed(items: readonly Item[] | undefined): Tree {
  if (items === undefined) throw new NotationError('a bracket closes that was not open');
  const [head, first, second, third] = items;
  switch (head) {
    case 'let':
      return { op: 'block', name: word(first), value: tree(second), body: tree(third) };
    case 'if':
      return { op: 'if', test: tree(first), yes: tree(second), no: tree(third) };
    case '.':
      return { op: 'getter', of: tree(first), field: word(second) };
    default: {
      const name = word(head);
      const header = name.startsWith('#') ? Number(name.slice(1)) & 0x7fff : name;
      return { op: 'call', header, args: items.slice(1).map(tree) };
    }
  }
}

function word(item: Item | undefined): string {
  if (typeof item === 'string') return item;
  throw new NotationError('a word is missing');
}

const LITERAL = /^("(?:[^"\\]|\\.)*"|0x(?:[0-9a-f]{2})*)(?:\*(\d{1,6}))?$/;
const BYTES_MAX = 16_384;

function tree(item: Item | undefined): Tree {
  if (typeof item === 'object') return item;
  const text = word(item);
  if (/^-?\d{1,19}$/.test(text)) return { op: 'long', value: BigInt.asIntN(64, BigInt(text)) };
  if (text === 'true' || text === 'false') return { op: 'bool', value: text === 'true' };
  const [, literal, count = '1'] = LITERAL.exec(text) ?? [];
  if (literal === undefined) return { op: 'ref', name: text };
  const times = Math.min(Number(count), BYTES_MAX / Math.max(1, literal.length - 2));
  if (literal.startsWith('"')) {
    return { op: 'string', value: (JSON.parse(literal) as string).repeat(times) };
  }
  return { op: 'bytes', value: Buffer.from(literal.slice(2).repeat(times), 'hex') };
}

type SecureHash = (message: Uint8Array) => Uint8Array;

/** As a script of version 2, which may declare a name more than once. */
export const scriptOf = (text: string, secureHash: SecureHash, words?: Words): Uint8Array =>
  writeScript(2, treeOf(text, words), secureHash);
