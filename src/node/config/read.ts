/**
 * Reads a configuration: collects raw values, applies defaults, types them, and checks settings
 * together. All errors come at once (node.md#start step 2).
 *
 * Invariants: the result is complete and typed, or ConfigError is thrown; the code reads nothing
 * itself, so file, environment and flags are arguments.
 */

import { assert } from '../../base/assert.ts';
import { isObject, stringify } from '../../base/json/json.ts';
import { NATIVE_TOKEN } from '../../crypto/chain-scheme.ts';
import { crossChecks } from './checks.ts';
import { dataChecks, servingChecks } from './data-checks.ts';
import { type KindContext, QUOTE_IT, Wrong } from './kinds.ts';
import { ConfigError, type Problem, type SourceOf } from './problems.ts';
import { camel, type PlacedSetting } from './setting.ts';
import { allSettings, type Config } from './settings.ts';
import {
  type Collected,
  collectEnvironment,
  collectFile,
  collectFlags,
  hasOnlyTools,
  hasSettings,
  type Locate,
  type Raw,
} from './sources.ts';
import { inHome } from './text-kinds.ts';
import { findEntry, lineAt, mapText, type TextMap } from './text-map.ts';

export interface ConfigInput {
  /** The name of the file, for messages. */
  readonly file: string;
  /** The text of that file, for lines and digits. */
  readonly text: string;
  /** The result of the HOCON parser, with includes and substitutions resolved. */
  readonly tree: unknown;
  /** The files that it includes, for lines. */
  readonly included?: readonly { readonly file: string; readonly text: string }[];
  /** Includes of the file that are not there, which HOCON ignores. */
  readonly missing?: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `key=value` flags. */
  readonly sets: readonly string[];
  /** Home folder, for `~`. */
  readonly home: string;
  /** Default of network.nonce. */
  readonly nonce: number;
  /** Text of a file named by `<secret>-file`; undefined if there is none. */
  readonly readSecret: (path: string) => string | undefined;
}

/** The source of a value, for `config explain`. */
export interface Origin {
  readonly source: string;
  readonly spelling: string;
}

export interface ConfigResult {
  readonly config: Config;
  readonly warnings: readonly string[];
  /** Those of the warnings that name a key that nobody knows, or an include that is missing. */
  readonly unknown: readonly string[];
  /** The keys that were given, with their sources; all others have their defaults. */
  readonly origins: ReadonlyMap<string, Origin>;
}

/** What the data service reads of a configuration; the other settings are those of the node. */
export type DataConfig = Pick<
  Config,
  'dataDirectory' | 'dataService' | 'loggingLevel' | 'platformCrypto'
>;

const OF_DATA_SERVICE =
  /^(data-service\..*|directory|data-directory|logging-level|platform-crypto)$/;

/**
 * The same for the data service, which needs no other section; `serves`: for a command that opens
 * its interface. Throws ConfigError.
 */
export function readDataConfig(input: ConfigInput, serves: boolean): DataConfig {
  const locate = (path: string): string => `${input.file}: ${path}`;
  const tree = isObject(input.tree) ? input.tree : {};
  const layers = layersOf(input, tree, locate);
  const chosen = allSettings.filter(({ key }) => OF_DATA_SERVICE.test(key));
  const problems = layers
    .flatMap((layer) => layer.problems)
    .filter(({ key, source }) => source === '--set' || OF_DATA_SERVICE.test(key));
  const raw = merge(layers);
  resolveSecretFiles(raw, input, problems);
  const values = typeAll(raw, input, problems, () => undefined, chosen);
  if (problems.length > 0) throw new ConfigError(problems);
  const config = nest(values);
  const given = sourceIn(raw, input.file);
  problems.push(...dataChecks(config.dataService, given));
  if (serves) problems.push(...servingChecks(config.dataService, given));
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

/** Earlier releases opened the interface to every machine, so an upgrade can close it to clients. */
const LOOPBACK_BY_DEFAULT =
  'rest-api.bind-address is not set, so only programs of this machine reach the REST interface: set ' +
  '"0.0.0.0", with rest-api.tls.cert and rest-api.tls.key, for others, or "127.0.0.1" to keep it so';

/** Throws ConfigError with every problem found. */
export function readConfig(input: ConfigInput): ConfigResult {
  const map = mapText(input.text);
  if (map.problem !== undefined) {
    const source = `${input.file}:${map.problem.line}`;
    throw new ConfigError(
      [{ source, key: 'brackets', expected: map.problem.message }],
      'Failed to parse config:',
    );
  }
  const missing = missingIncludes(input);
  if (!isObject(input.tree) || !hasSettings(input.tree)) {
    throw new ConfigError(
      [{ source: input.file, key: 'node', expected: 'the section is missing' }],
      "Provided configuration file doesn't contain 'node' path",
      missing,
      missing,
    );
  }
  const layers = layersOf(input, input.tree, locatorOf(input, map));
  const problems = layers.flatMap((layer) => layer.problems);
  const warnings = [...missing, ...layers.flatMap((layer) => layer.warnings)];
  const unknown = [...missing, ...layers.flatMap((layer) => layer.unknown)];
  const raw = merge(layers);
  for (const { key, setting } of allSettings) {
    const given = setting.ignored === true ? raw.get(key) : undefined;
    if (given !== undefined) {
      warnings.push(`${given.source}: ${given.spelling} has no effect in this node`);
    }
  }
  resolveSecretFiles(raw, input, problems);

  const digits: Digits = (spelling) => {
    const entry = findEntry(map, `node.${spelling}`) ?? findEntry(map, spelling);
    return entry && input.text.slice(entry.valueStart, entry.valueEnd);
  };
  const values = typeAll(raw, input, problems, digits);
  if (problems.length === 0) {
    const config = nest(values);
    const given = sourceIn(raw, input.file);
    problems.push(...crossChecks(config, { file: input.file, given }, warnings));
    problems.push(...dataChecks(config.dataService, given));
    if (config.restApi.enable && !raw.has('rest-api.bind-address')) {
      warnings.push(`${input.file}: ${LOOPBACK_BY_DEFAULT}`);
    }
    if (problems.length === 0) return { config, warnings, unknown, origins: originsOf(raw) };
  }
  throw new ConfigError(problems, undefined, warnings, unknown);
}

const missingIncludes = ({ file, missing = [] }: Pick<ConfigInput, 'file' | 'missing'>): string[] =>
  missing.map(
    (path) =>
      `${file}: include of '${path}', which does not exist, is ignored: correct it, or leave it out`,
  );

/**
 * The unknown keys and missing includes of a file that has sections of tools only, as `keystore generate` reads it;
 * undefined for any other file.
 */
export function unknownOfTools(
  input: Pick<ConfigInput, 'file' | 'text' | 'tree' | 'included' | 'missing'>,
): readonly string[] | undefined {
  if (!isObject(input.tree) || !hasOnlyTools(input.tree)) return undefined;
  const { unknown } = collectFile(input.tree, locatorOf(input, mapText(input.text)));
  return [...missingIncludes(input), ...unknown];
}

/** A key that is in no file, or below an include inside of a section, is looked for in the first file. */
function locatorOf(
  { file, text, included = [] }: Pick<ConfigInput, 'file' | 'text' | 'included'>,
  map: TextMap,
): Locate {
  const others = included.map((one) => ({ ...one, starts: startsOf(mapText(one.text)) }));
  return (path) => {
    const entry = findEntry(map, path);
    if (entry !== undefined) return `${file}:${lineAt(text, entry.keyStart)}`;
    for (const { starts, ...other } of others) {
      const start = starts.get(path);
      if (start !== undefined) return `${other.file}:${lineAt(other.text, start)}`;
    }
    return file;
  };
}

const startsOf = ({ entries }: TextMap): ReadonlyMap<string, number> =>
  new Map(entries.map(({ path, keyStart }) => [path.join('.'), keyStart]));

// Contains no values, since some are secret.
const originsOf = (raw: ReadonlyMap<string, Raw>): ReadonlyMap<string, Origin> =>
  new Map([...raw].map(([key, { source, spelling }]) => [key, { source, spelling }]));

/** Where a wrong value comes from; a missing one is missing in the file. */
const sourceIn =
  (raw: ReadonlyMap<string, Raw>, file: string): SourceOf =>
  (key) =>
    raw.get(key)?.source ?? file;

/** From the weakest source to the strongest. */
const layersOf = (
  { env, sets }: ConfigInput,
  tree: Record<string, unknown>,
  locate: Locate,
): Collected[] => [collectFile(tree, locate), collectEnvironment(env), collectFlags(sets)];

function merge(layers: readonly Collected[]): Map<string, Raw> {
  const raw = new Map<string, Raw>();
  for (const layer of layers) {
    for (const [key, value] of layer.raw) {
      // A stronger source replaces both forms of a secret.
      raw.delete(key.replace(/-file$/, ''));
      raw.delete(`${key}-file`);
      raw.set(key, value);
    }
  }
  return raw;
}

function resolveSecretFiles(
  raw: Map<string, Raw>,
  { readSecret, home }: ConfigInput,
  problems: Problem[],
): void {
  for (const { key, setting } of allSettings) {
    const named = setting.secret === true ? raw.get(`${key}-file`) : undefined;
    if (named === undefined) continue;
    raw.delete(`${key}-file`);
    const text = readSecret(inHome(String(named.value), home));
    if (text !== undefined) raw.set(key, { ...named, value: text.replace(/\r?\n$/, '') });
    else {
      problems.push({
        source: named.source,
        key: named.spelling,
        value: String(named.value),
        expected: 'the file cannot be read',
      });
    }
  }
}

/** The text of a value in the file, for an integer that JavaScript has rounded. */
type Digits = (spelling: string) => string | undefined;

function typeAll(
  raw: ReadonlyMap<string, Raw>,
  input: ConfigInput,
  problems: Problem[],
  digits: Digits,
  chosen = allSettings,
): Map<string, unknown> {
  const values = new Map<string, unknown>([['nonce', input.nonce]]);
  const ticker = raw.get('native-ticker')?.value;
  const context: KindContext = {
    home: input.home,
    ticker: typeof ticker === 'string' ? ticker : NATIVE_TOKEN,
  };
  const derived: PlacedSetting[] = [];
  const type = (placed: PlacedSetting, given: Raw | undefined, fallback?: unknown): void => {
    const { key, setting } = placed;
    const value = setting.kind.parse(given === undefined ? fallback : given.value, context);
    if (!(value instanceof Wrong)) {
      values.set(key, value);
      return;
    }
    assert(
      given !== undefined || setting.derive,
      `the default of ${key} is no ${setting.kind.name}`,
    );
    problems.push(...wrongParts(value, placed, given, input.file, digits));
  };
  for (const placed of chosen) {
    const { key, setting } = placed;
    const given = raw.get(key);
    if (given !== undefined) type(placed, given);
    else if (setting.presence === 'default') type(placed, undefined, setting.fallback);
    else if (setting.presence === 'derived') derived.push(placed);
    else if (setting.presence === 'required') {
      problems.push({
        source: input.file,
        key,
        expected: 'is missing, it has no default',
        fix: setting.doc,
      });
    }
  }
  for (const placed of derived) {
    let hasBasis = true;
    const fallback = placed.setting.derive?.((key) => {
      const value = values.get(key);
      hasBasis &&= value !== undefined;
      return value;
    });
    // A missing or wrong basis has already been reported as a problem of its own.
    if (hasBasis) type(placed, undefined, fallback);
  }
  return values;
}

/** A list or an object can be wrong in several places. */
const wrongParts = (
  wrong: Wrong,
  { key, setting }: PlacedSetting,
  given: Raw | undefined,
  file: string,
  digits: Digits,
): Problem[] =>
  [wrong, ...wrong.others].map(({ at, expected, fix }) => {
    const spelling = [given?.spelling ?? key, ...at].join('.');
    const inner = at.reduce(dig, given?.value);
    const shown = fix === QUOTE_IT ? (digits(spelling) ?? String(inner)) : stringify(inner);
    const isHidden = setting.secret === true || setting.unrepeated === true || inner === undefined;
    return {
      source: given?.source ?? file,
      key: spelling,
      ...(isHidden ? {} : { value: shown }),
      expected: `expected ${expected}`,
      ...(fix === undefined ? {} : { fix }),
    };
  });

const dig = (value: unknown, part: string): unknown =>
  (value as Record<string, unknown> | undefined)?.[part];

/** Keys → nested objects in camel case; optional settings without a value are undefined. */
function nest(values: ReadonlyMap<string, unknown>): Config {
  const root: Record<string, unknown> = {};
  for (const { key } of allSettings) {
    const parts = key.split('.').map(camel);
    const last = parts.pop()!;
    let at = root;
    for (const part of parts) {
      at[part] ??= {};
      at = at[part] as Record<string, unknown>;
    }
    at[last] = values.get(key);
  }
  return root as unknown as Config;
}
