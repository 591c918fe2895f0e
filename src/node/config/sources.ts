/**
 * Collects raw values from file, environment and flags, by canonical key (decisions 6 and 46).
 *
 * Invariants: flags win over the environment, and the environment over the file; a key and its
 * other spelling in one source must agree; unknown keys are warnings, never errors, since files are
 * shared with other programs.
 */
import { isObject, stringify } from '../../base/json/json.ts';
import type { Problem } from './problems.ts';
import type { Alias, PlacedSetting } from './setting.ts';
import { allSettings } from './settings.ts';
import { didYouMean } from './spelling.ts';
import { isToolName, unknownToolKeys } from './tool-sections.ts';

/** A value before its kind has checked it. */
export interface Raw {
  readonly value: unknown;
  readonly source: string;
  /** The spelling of the key in the source, for messages. */
  readonly spelling: string;
}

export interface Collected {
  readonly raw: Map<string, Raw>;
  readonly problems: Problem[];
  readonly warnings: string[];
  /** Those of the warnings that name a key that nobody knows. */
  readonly unknown: string[];
}

const nothing = (): Collected => ({ raw: new Map(), problems: [], warnings: [], unknown: [] });

const FILE_SUFFIX = '-file';

interface Spelling {
  readonly placed: PlacedSetting;
  readonly alias?: Alias;
  readonly fromFile?: true;
}

const spellings = new Map<string, Spelling>();
const sections = new Set<string>();
const byEnv = new Map<string, PlacedSetting>();
for (const placed of allSettings) {
  const { key, env, setting } = placed;
  spellings.set(key, { placed });
  byEnv.set(env, placed);
  if (setting.secret === true && setting.kind.compound !== true) {
    spellings.set(key + FILE_SUFFIX, { placed, fromFile: true });
  }
  for (const entry of setting.aliases ?? []) {
    const alias = typeof entry === 'string' ? { key: entry } : entry;
    spellings.set(alias.key, { placed, alias });
  }
  if (key.startsWith('blockchain.custom.genesis.')) {
    const short = key.slice('blockchain.custom.'.length);
    spellings.set(short, { placed, alias: { key: short, quiet: true } });
  }
}
for (const key of spellings.keys()) {
  const parts = key.split('.');
  for (let length = 1; length < parts.length; length++) {
    sections.add(parts.slice(0, length).join('.'));
  }
}

/** True for a file with nothing but sections of tools. */
export const hasOnlyTools = (tree: unknown): boolean =>
  isObject(tree) && !hasSettings(tree) && Object.keys(tree).some(isToolName);

export const hasSettings = (tree: unknown): boolean =>
  isObject(tree) &&
  Object.keys(tree).some((name) => spellings.has(name) || sections.has(name) || name === 'node');

/** The `source` of a key for messages: the file and the line. */
export type Locate = (path: string) => string;

export function collectFile(tree: Record<string, unknown>, locate: Locate): Collected {
  const out = nothing();
  const rooted = isObject(tree['node']);
  if (rooted) walk(tree['node'] as Record<string, unknown>, '', true);
  const { node: _node, ...rest } = tree;
  walk(rooted ? rest : tree, '', false);
  return out;

  function walk(section: Record<string, unknown>, prefix: string, inNode: boolean): void {
    for (const [name, value] of Object.entries(section)) {
      const key = prefix + name;
      const source = locate(inNode ? `node.${key}` : key);
      if (value === null || value === undefined) continue;
      const spelling = spellings.get(key);
      if (spelling !== undefined) put(out, spelling, { value, source, spelling: key });
      else if (sections.has(key)) {
        if (isObject(value)) walk(value, `${key}.`, inNode);
        else {
          const shown = stringify(value);
          out.problems.push({ source, key, value: shown, expected: 'a section: { … }' });
        }
      } else if (prefix === '' && isToolName(name)) {
        for (const { key: inner, text } of unknownToolKeys(name, value)) {
          warnOfUnknown(out, `${locate(inNode ? `node.${inner}` : inner)}: ${text}`);
        }
      } else if (prefix !== '' || !rooted || inNode) {
        warnOfUnknown(out, `${source}: ${unknownKey(key)}`);
      }
    }
  }
}

function warnOfUnknown(out: Collected, text: string): void {
  out.warnings.push(text);
  out.unknown.push(text);
}

/** Adds a value; two spellings of one key in the same source must agree. */
function put(out: Collected, { placed, alias, fromFile }: Spelling, raw: Raw): void {
  const word = alias?.words?.[String(raw.value).toUpperCase()];
  const given = { ...raw, value: word ?? raw.value };
  const key = fromFile === true ? placed.key + FILE_SUFFIX : placed.key;
  const twin = out.raw.get(placed.key) ?? out.raw.get(placed.key + FILE_SUFFIX);
  if (twin !== undefined && (fromFile || stringify(twin.value) !== stringify(given.value))) {
    out.problems.push({
      source: raw.source,
      key: raw.spelling,
      ...(placed.setting.secret === true ? {} : { value: stringify(raw.value) }),
      expected: `differs from ${twin.spelling}, another spelling of the same setting`,
      fix: 'keep one of them',
    });
  }
  if (alias !== undefined && alias.quiet !== true) {
    out.warnings.push(
      `${raw.source}: '${raw.spelling}' is an older spelling of '${placed.key}', which is preferred`,
    );
  }
  out.raw.set(key, given);
}

export function unknownKey(key: string): string {
  const guess = didYouMean(key, spellings.keys()) ?? sameLastPart(key);
  return `unknown setting '${key}'${guess === undefined ? '' : `, did you mean '${guess}'?`}`;
}

/**
 * `restapi.port` resembles no key as a whole, but some setting is called port and has a similar
 * section.
 */
function sameLastPart(key: string): string | undefined {
  const last = key.slice(key.lastIndexOf('.') + 1);
  const alike = [...spellings.keys()].filter((known) => known.endsWith(`.${last}`));
  return alike.length === 1 ? alike[0] : undefined;
}

export function collectEnvironment(env: Readonly<Record<string, string | undefined>>): Collected {
  const out = nothing();
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const placed = byEnv.get(name);
    if (placed !== undefined) {
      const raw = { value: untangle(placed, value), source: 'environment', spelling: name };
      out.raw.set(placed.key, raw);
    } else if ([...byEnv.keys()].some((known) => sharesSection(known, name))) {
      const guess = didYouMean(name, byEnv.keys());
      const hint = guess === undefined ? '' : `, did you mean '${guess}'?`;
      warnOfUnknown(out, `environment: unknown variable '${name}'${hint}`);
    }
  }
  const level = env['LOG_LEVEL'];
  if (level !== undefined && level !== '') {
    const raw = { value: level, source: 'environment', spelling: 'LOG_LEVEL' };
    out.raw.set('logging-level', raw);
  }
  return out;
}

// NODE_OPTIONS and the like belong to Node.js; NODE_NETWORK_… and NODE_REST_API_… belong to this
// node.
const sharesSection = (known: string, name: string): boolean => {
  const section = /^NODE_(?:REST_API|DOCKER_ENGINE|[A-Z]+)_/.exec(known)?.[0];
  return section !== undefined && section !== 'NODE_API_' && name.startsWith(section);
};

/** Flags of the form `--set rest-api.port=6862`; later ones win. */
export function collectFlags(sets: readonly string[]): Collected {
  const out = nothing();
  for (const set of sets) {
    const [, spelled, value] = /^([^=]+)=(.*)$/s.exec(set) ?? [];
    const key = spelled?.trim().replace(/^node\./, '') ?? '';
    const spelling = spellings.get(key);
    if (spelling === undefined || value === undefined) {
      out.problems.push({
        source: '--set',
        key: set,
        expected: value === undefined ? 'must be written key=value' : unknownKey(key),
      });
      continue;
    }
    out.raw.delete(spelling.placed.key);
    put(out, spelling, {
      value: untangle(spelling.placed, value),
      source: '--set',
      spelling: key,
    });
  }
  return out;
}

/** Lists and maps are given as JSON; lists of words and numbers also as `a,b,c`, and one as `a`. */
function untangle({ setting }: PlacedSetting, text: string): unknown {
  if (setting.kind.compound !== true) return text;
  const value = jsonOf(text);
  if (typeof value === 'string') return [value];
  if (typeof value === 'object') return value;
  const inner = text.trim().replace(/^\[(.*)\]$/s, '$1');
  return inner.trim() === '' ? [] : inner.split(',').map((word) => word.trim());
}

/** Undefined where it is none. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
