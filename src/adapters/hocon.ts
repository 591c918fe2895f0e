/**
 * HOCON text → plain values, by @pushcorn/hocon-parser (decision 6).
 *
 * Invariants: strict mode; only local files are included; nothing in a file is ever executed, so
 * the parser's transforms (which evaluate expressions), its script files and its HTTP source are
 * replaced by components that refuse. The parser rounds unquoted integers above 2^53, so the caller
 * rejects every number that is an unsafe integer.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

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

let loaded: Parser | undefined;

// Loaded on first use, so that `--help` stays fast.
function parser(): Parser {
  if (loaded !== undefined) return loaded;
  const found = createRequire(import.meta.url)('@pushcorn/hocon-parser') as Parser;
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

/** Parses a file; includes are relative to it. Throws Error with the parser's reason. */
export async function parseHoconFile(path: string): Promise<unknown> {
  const url = pathToFileURL(path).href;
  return parser().parse({ url, strict: true, required: true, builder: 'config', encoding: 'utf8' });
}

/** Parses a text without a file; it can include only absolute paths. */
export async function parseHoconText(text: string): Promise<unknown> {
  return parser().parse({ text, strict: true });
}
