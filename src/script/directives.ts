/** `{-# LANGUAGE_VERSION 2 #-}` in a line of its own (docs/protocol/scripts.md#directives). */
import { ScriptError, type Version } from './tree.ts';

/**
 * The only key that counts, and its value. White space between them may be missing: then the value
 * is one letter or digit, or begins with another sign. No place has two ways on, so that the time is
 * linear in the length of the line.
 */
const VERSION =
  /^\s*\{-#\s*LANGUAGE_VERSION(?:\s+([A-Za-z0-9/.,]+)|([A-Za-z0-9])|([/.,][A-Za-z0-9/.,]*))\s*#-\}\s*$/;
const OPENING = '{-#';

export interface Directed {
  readonly version: Version;
  /** The source without its directives. */
  readonly source: string;
}

/** Throws ScriptError. */
export function readDirectives(whole: string): Directed {
  const lines = whole.split('\n');
  let value: string | undefined;
  for (const line of lines) {
    if (!line.includes(OPENING)) continue;
    const [, spaced, single, signed] = VERSION.exec(line) ?? [];
    value ??= spaced ?? single ?? signed;
  }
  const source = lines.filter((line) => !line.includes(OPENING)).join('\n');
  return { version: value === undefined ? 1 : versionOf(value), source };
}

function versionOf(text: string): Version {
  if (!/^\d{1,9}$/.test(text)) throw new ScriptError("Can't parse language version");
  const version = Number(text);
  if (version !== 1 && version !== 2) throw new ScriptError('Unsupported language version');
  return version;
}
