/**
 * HOCON text → plain values, by @pushcorn/hocon-parser (decision 6).
 *
 * Invariants: strict mode; only local files are included; nothing in a file is ever executed, so
 * the parser's transforms (which evaluate expressions), its script files and its HTTP source are
 * replaced by components that refuse. The parser rounds unquoted integers above 2^53, so the caller
 * rejects every number that is an unsafe integer.
 */
import { existsSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Mutex } from '../concurrency/mutex.ts';

interface Source {
  readonly context: { readonly url: URL };
  onLoadFile(): Promise<unknown>;
}
interface Adapter {
  new (...args: readonly unknown[]): object;
}
interface Parser {
  parse(options: Readonly<Record<string, unknown>>): Promise<unknown>;
  Context: { registerComponent(...classes: readonly Adapter[]): void };
  SourceAdapter: Adapter;
  BuilderAdapter: Adapter;
  TransformAdapter: Adapter;
}

const REFUSED = {
  SourceAdapter: ['HttpSource', 'HttpsSource', 'ModulepathSource'],
  BuilderAdapter: ['ScriptBuilder'],
  TransformAdapter: [
    'EvalTransform',
    'FilterTransform',
    'HashTransform',
    'InvokeTransform',
    'MapTransform',
    'QueryTransform',
    'ReduceTransform',
  ],
} as const;

const OPTIONS = { strict: true, required: true, builder: 'config', encoding: 'utf8' } as const;

let loaded: Parser | undefined;

/**
 * One parse at a time, with what it includes. To follow each parse by AsyncLocalStorage would make
 * every promise and callback of the process slower for good.
 */
const parses = new Mutex();
/** Files that are read in the parse under way, the first one included. */
let read = new Set<string>();

// Loaded on first use, so that `--help` stays fast.
function parser(): Parser {
  if (loaded !== undefined) return loaded;
  const require = createRequire(import.meta.url);
  leaveOutHttp(require);
  const found = require('@pushcorn/hocon-parser') as Parser;
  const { FileSource } = require('@pushcorn/hocon-parser/lib/sources/FileSource.js') as {
    FileSource: new () => Source;
  };
  const noting = class extends FileSource {
    override onLoadFile(): Promise<unknown> {
      read.add(fileURLToPath(this.context.url.href));
      return super.onLoadFile();
    }
  };
  Object.defineProperty(noting, 'name', { value: 'FileSource' });
  found.Context.registerComponent(noting as unknown as Adapter);
  for (const [base, names] of Object.entries(REFUSED)) {
    const Base = found[base as keyof typeof REFUSED];
    for (const name of names) {
      const refusing = class extends Base {
        constructor() {
          super();
          throw new Error(`${name} is not allowed in a configuration file`);
        }
      };
      // The parser registers components by the names of their classes.
      Object.defineProperty(refusing, 'name', { value: name });
      found.Context.registerComponent(refusing);
    }
  }
  loaded = found;
  return found;
}

/**
 * The HTTP client of the HTTP source, which is refused. Its modules and those of TLS would take more
 * time than all others of the parser.
 */
function leaveOutHttp(require: NodeJS.Require): void {
  const client = createRequire(require.resolve('@pushcorn/hocon-parser')).resolve('rock-req');
  const none = new Module(client);
  none.exports = { extend: () => ({}) };
  none.loaded = true;
  require.cache[client] ??= none;
}

/** The files that a configuration includes, as absolute paths; also those that do not exist. */
export async function hoconIncludes(path: string): Promise<readonly string[]> {
  return (await parseNoting(path)).includes;
}

/**
 * Parses a file; includes are relative to it. `missing`: the absolute paths of includes that HOCON
 * ignores, since no file is there; `included`: the others. Throws Error with the parser's reason.
 */
export async function parseWithIncludes(path: string): Promise<{
  readonly tree: unknown;
  readonly included: readonly string[];
  readonly missing: readonly string[];
}> {
  const { tree, includes } = await parseNoting(path);
  return { tree, included: includes.filter(existsSync), missing: missingIn(new Set(includes)) };
}

async function parseNoting(
  path: string,
): Promise<{ readonly tree: unknown; readonly includes: readonly string[] }> {
  return parses.run(async () => {
    read = new Set();
    const url = pathToFileURL(path);
    const tree = await parser()
      .parse({ ...OPTIONS, url: url.href })
      .catch((cause: Error) => {
        throw explained(cause, missingIn(read));
      });
    read.delete(fileURLToPath(url));
    return { tree, includes: [...read] };
  });
}

/** The parser looks for a name without one of these with each of them too. */
const EXTENSIONS = ['.conf', '.json', '.properties'];

function missingIn(includes: ReadonlySet<string>): string[] {
  const isTried = (path: string): boolean =>
    EXTENSIONS.some((end) => path.endsWith(end) && includes.has(path.slice(0, -end.length)));
  const exists = (path: string): boolean => includes.has(path) && existsSync(path);
  return [...includes].filter(
    (path) => !isTried(path) && !exists(path) && !EXTENSIONS.some((end) => exists(`${path}${end}`)),
  );
}

/** Parses a text without a file; it can include only absolute paths. */
export async function parseHoconText(text: string): Promise<unknown> {
  return parses.run(() =>
    parser()
      .parse({ text, strict: true })
      .catch((cause: Error) => {
        throw explained(cause, []);
      }),
  );
}

const PLACE =
  /\s*\(?(?:Source: [^,]*, )?Token: \{ value: .*, line: (\d+), col: (\d+)(?:, file: (\S+))? \}\)?/s;

/** The parser's error, with its place and the remedy in the words of an operator. */
function explained(cause: Error, missing: readonly string[]): Error {
  const { message } = cause;
  const [, line, column, url] = PLACE.exec(message) ?? [];
  const file = url === undefined ? '' : ` of ${fileURLToPath(url)}`;
  const place = line === undefined ? '' : ` (line ${line}, column ${column}${file})`;
  return new Error(`${message.replace(PLACE, '')}${place}${remedyOf(cause, missing)}`, { cause });
}

function remedyOf(cause: Error, missing: readonly string[]): string {
  const { message } = cause;
  const [, name] = /^Unable to resolve '([^']*)'/.exec(message) ?? [];
  if (name !== undefined) {
    return `: no setting and no variable has this name; set it, or write \${?${name}} where it may be absent`;
  }
  if (message.startsWith('Unable to include') && missing.length > 0) {
    return `: ${missing.map((path) => `'${path}' does not exist`).join(', ')}`;
  }
  // The parser looks for the file of an include that it does not know.
  if ((cause as NodeJS.ErrnoException).code !== 'ERR_INVALID_ARG_TYPE') return '';
  return '; is there an include other than include "…", include file("…") and include required(…)?';
}
