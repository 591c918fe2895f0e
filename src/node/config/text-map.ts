/**
 * Positions in the text of a configuration file. The HOCON parser loses positions and rounds big
 * integers. So this walk over the text supplies the lines for error messages, the digits of refused
 * integers, and the exact span of the three values that `genesis sign` replaces.
 *
 * Invariants: the walk never throws; every position is an offset into the given text; it finds
 * unmatched brackets, which the parser would accept.
 */

/** One `key = value` of the text. */
export interface TextEntry {
  /** Full path; elements of lists count from 0. */
  readonly path: readonly string[];
  readonly keyStart: number;
  readonly keyEnd: number;
  /** Start of the value, or of its opening bracket. */
  readonly valueStart: number;
  /** End of the value; for objects and lists the end of their opening bracket. */
  readonly valueEnd: number;
  readonly isObject: boolean;
}

export interface TextMap {
  readonly entries: readonly TextEntry[];
  /** Set if the brackets do not match. */
  readonly problem: { readonly line: number; readonly message: string } | undefined;
}

interface Level {
  readonly path: readonly string[];
  readonly kind: 'root' | '{' | '[';
  readonly at: number;
  index: number;
}

const SKIP = /(?:[\s,\ufeff]|#[^\n]*|\/\/[^\n]*)*/y;
const KEY = /(?:"(?:\\.|[^"\\\n])*"|\$\{[^}]*\}|[^\s"{}[\]:=,+#]|[ \t]+(?![\s:={+#]))+/y;
const SEPARATOR = /\s*(?:\+?=|:)?(?:[ \t\r\n]|#[^\n]*\n|\/\/[^\n]*\n)*/y;
const SCALAR =
  /(?:"""[\s\S]*?"""+|"(?:\\.|[^"\\\n])*"|\$\{[^}]*\}|(?!\/\/)[^\s"{}[\],#]|[ \t]+(?![\s{}[\],#]|\/\/|$))+/y;
const INCLUDE = /(?:include|require)[\s(][^\n]*/y;

export function mapText(text: string): TextMap {
  const entries: TextEntry[] = [];
  const levels: Level[] = [{ path: [], kind: 'root', at: 0, index: 0 }];
  let at = 0;
  let problem: TextMap['problem'];
  const match = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? '';
    at += found.length;
    return found;
  };
  const open = (path: readonly string[]): void => {
    levels.push({ path, kind: text[at] as '{' | '[', at, index: 0 });
    at += 1;
  };

  while (problem === undefined) {
    match(SKIP);
    if (at >= text.length) break;
    const level = levels.at(-1)!;
    const char = text[at]!;
    if (char === '}' || char === ']') {
      if (level.kind !== (char === '}' ? '{' : '[')) {
        problem = { line: lineAt(text, at), message: `unexpected '${char}'` };
      } else {
        levels.pop();
        at += 1;
      }
    } else if (char === '{' || char === '[') {
      const inList = level.kind === '[';
      open(inList ? [...level.path, String(level.index++)] : level.path);
    } else if (level.kind === '[') {
      level.index += 1;
      if (match(SCALAR) === '') at += 1;
    } else if (match(INCLUDE) === '') {
      const keyStart = at;
      const path = [...level.path, ...splitKey(match(KEY))];
      const keyEnd = at;
      match(SEPARATOR);
      const valueStart = at;
      const isObject = text[at] === '{';
      if (isObject || text[at] === '[') open(path);
      else match(SCALAR);
      if (at === keyStart) at += 1;
      entries.push({ path, keyStart, keyEnd, valueStart, valueEnd: at, isObject });
    }
  }
  const unclosed = levels.length > 1 ? levels.at(-1) : undefined;
  if (problem === undefined && unclosed !== undefined) {
    problem = { line: lineAt(text, unclosed.at), message: `'${unclosed.kind}' is not closed` };
  }
  return { entries, problem };
}

/** `a."b.c".d` → a, b.c, d */
function splitKey(key: string): string[] {
  const parts = key.match(/(?:"(?:\\.|[^"\\])*"|[^."])+/g) ?? [];
  return parts.map((part) => part.trim().replace(/"((?:\\.|[^"\\])*)"/g, '$1'));
}

export const lineAt = (text: string, offset: number): number =>
  text.slice(0, offset).split('\n').length;

/** The last entry for a path given as `a.b.c`, whose value counts. */
export function findEntry(map: TextMap, path: string): TextEntry | undefined {
  return map.entries.findLast((entry) => entry.path.join('.') === path);
}
