/**
 * Scripts as the rest of the node sees them: made from a source or read from bytes, with complexity
 * and text form (docs/protocol/scripts.md).
 */
import { equal, latin1 } from '../base/bytes.ts';
import { BoundedCache } from '../concurrency/bounded-cache.ts';
import { compileTree } from './compiler/compiler.ts';
import { parse } from './compiler/parser.ts';
import { type Estimate, estimate } from './estimator.ts';
import { bytesOfBase64 } from './evaluation/operations.ts';
import { type Program, programOf } from './evaluation/program.ts';
import { readScript, writeScript } from './language/binary.ts';
import { type Context, ScriptError, type Tree, type Version } from './language/tree.ts';
import { type SignatureUse, signatureUses } from './signature-uses.ts';
import { sourceText } from './text/source-text.ts';
import { treeText } from './text/tree-text.ts';

/** Characters of a source. */
export const SOURCE_LENGTH_MAX = 65_536;

export interface Script {
  readonly bytes: Uint8Array;
  readonly version: Version;
  readonly tree: Tree;
  /** Throws ScriptError above COMPLEXITY_MAX; never where the script comes from `read`. */
  readonly complexity: number;
  /** Those of the estimator. Throws like `complexity`. */
  readonly steps: number;
  readonly text: () => string;
  readonly program: Program;
  /** The checks of proofs that it will probably ask for. */
  readonly signatureUses: () => readonly SignatureUse[];
}

export interface Scripts {
  /** Throws ScriptError. */
  readonly compile: (source: string, context: Context) => Script;
  /** Throws ScriptError. */
  readonly read: (bytes: Uint8Array) => Script;
  /**
   * A script of the state, which `read` accepted before it came there. Its complexity is not
   * estimated again, since no run pays for that. Throws ScriptError where it is no script.
   */
  readonly stored: (bytes: Uint8Array) => Script;
  /** A source that compiles to exactly these bytes. Throws ScriptError where there is none. */
  readonly decompile: (bytes: Uint8Array) => string;
}

type SecureHash = (message: Uint8Array) => Uint8Array;

/** Scripts that stay decoded, up to twice as many; each takes up to about a megabyte. */
const CACHED_SCRIPTS = 64;

export function createScripts(secureHash: SecureHash): Scripts {
  const known = new BoundedCache<string, Script>(CACHED_SCRIPTS);
  return {
    compile(source, context) {
      const bytes = compileSource(source, context, secureHash);
      return read(bytes);
    },
    read,
    stored,
    decompile(bytes) {
      const { tree, version } = read(bytes);
      const source = sourceText(tree, version);
      const isSame = CONTEXTS.some((context) => compilesTo(source, context, bytes, secureHash));
      if (!isSame) throw new ScriptError('No source compiles to this script');
      return source;
    },
  };

  function read(bytes: Uint8Array): Script {
    const script = stored(bytes);
    void script.complexity;
    return script;
  }

  function stored(bytes: Uint8Array): Script {
    const key = latin1(bytes);
    const found = known.get(key);
    if (found !== undefined) return found;
    const script = readWhole(bytes, secureHash);
    known.set(key, script);
    return script;
  }
}

const SHOWN_LENGTH_MAX = 100;

/** A script in Base64, with or without the prefix `base64:`. Throws ScriptError. */
export function readBase64(text: string, scripts: Scripts): Script {
  const bytes = bytesOfBase64(text.trim());
  if (bytes !== undefined) return scripts.read(bytes);
  throw new ScriptError(`Unable to decode base64: ${text.slice(0, SHOWN_LENGTH_MAX)}`);
}

const CONTEXTS: readonly Context[] = ['account', 'asset'];

function compilesTo(
  source: string,
  context: Context,
  bytes: Uint8Array,
  secureHash: SecureHash,
): boolean {
  try {
    return equal(compileSource(source, context, secureHash), bytes);
  } catch (cause) {
    if (cause instanceof ScriptError) return false;
    throw cause;
  }
}

function compileSource(whole: string, context: Context, secureHash: SecureHash): Uint8Array {
  if (whole.length > SOURCE_LENGTH_MAX) {
    throw new ScriptError(`The source has more than ${SOURCE_LENGTH_MAX} characters`);
  }
  const { version, source, lineNumbers } = readDirectives(whole);
  const tree = compileTree(parse(source, lineNumbers), version, context);
  return writeScript(version, tree, secureHash);
}

function readWhole(bytes: Uint8Array, secureHash: SecureHash): Script {
  const { version, tree } = readScript(bytes, secureHash);
  let estimated: Estimate | undefined;
  const once = (): Estimate => {
    estimated ??= estimate(tree, version);
    return estimated;
  };
  let program: Program | undefined;
  let uses: readonly SignatureUse[] | undefined;
  return {
    bytes: bytes.slice(),
    version,
    tree,
    get complexity() {
      return once().complexity;
    },
    get steps() {
      return once().steps;
    },
    text: () => treeText(tree),
    get program() {
      program ??= programOf(tree, version, bytes.length);
      return program;
    },
    signatureUses() {
      uses ??= signatureUses(tree);
      return uses;
    },
  };
}

/**
 * The only key that counts, and its value. White space between them may be missing: then the value
 * is one letter or digit, or begins with another sign. No place has two ways on, so that the time is
 * linear in the length of the line.
 */
const VERSION =
  /^\s*\{-#\s*LANGUAGE_VERSION(?:\s+([A-Za-z0-9/.,]+)|([A-Za-z0-9])|([/.,][A-Za-z0-9/.,]*))\s*#-\}\s*$/;
const OPENING = '{-#';

interface Directed {
  readonly version: Version;
  /** The source without its directives. */
  readonly source: string;
  /** Where each of its lines stood before, counted from 1. */
  readonly lineNumbers: readonly number[];
}

/** Throws ScriptError. */
export function readDirectives(whole: string): Directed {
  const lines = whole.split('\n');
  const kept: string[] = [];
  const lineNumbers: number[] = [];
  let value: string | undefined;
  for (const [i, line] of lines.entries()) {
    if (!line.includes(OPENING)) {
      kept.push(line);
      lineNumbers.push(i + 1);
      continue;
    }
    const [, spaced, single, signed] = VERSION.exec(line) ?? [];
    value ??= spaced ?? single ?? signed;
  }
  const version = value === undefined ? 1 : versionOf(value);
  return { version, source: kept.join('\n'), lineNumbers };
}

function versionOf(text: string): Version {
  if (!/^\d{1,9}$/.test(text)) throw new ScriptError("Can't parse language version");
  const version = Number(text);
  if (version !== 1 && version !== 2) throw new ScriptError('Unsupported language version');
  return version;
}
