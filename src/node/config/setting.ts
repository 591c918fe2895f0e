/**
 * How a setting is declared. One line for each setting gives the typed value, its checks, the
 * example file, the manual page, the reference page and the environment variable.
 */
import type { Kind } from './kinds.ts';

/** Another spelling of a key. A `quiet` one is equally valid; the others cause a warning. */
export interface Alias {
  readonly key: string;
  readonly quiet?: boolean;
  /** Words of the other spelling and their values: WAVES → yes. */
  readonly words?: Readonly<Record<string, string>>;
}

export interface Extras {
  readonly aliases?: readonly (string | Alias)[];
  /** Never printed; `<key>-file` may name a file with the value. */
  readonly secret?: boolean;
  /** A wrong value is not repeated: it may be the secret of which the hash is wanted. */
  readonly unrepeated?: boolean;
  /** Must be equal on all nodes, as part of the hash that the handshake compares [H-4]. */
  readonly network?: boolean;
  /**
   * Accepted so that files of other nodes load. No code reads it, and setting it causes a warning.
   */
  readonly ignored?: boolean;
}

export interface Setting<V> extends Extras {
  readonly setting: true;
  // The kind parses to V or, for optional settings, to V without undefined.
  readonly kind: Kind<NonNullable<V>>;
  readonly doc: string;
  readonly presence: 'default' | 'required' | 'optional' | 'derived';
  /** The default in the form of a file. */
  readonly fallback: unknown;
  /** Gets the values read so far, by key. */
  readonly derive?: (read: (key: string) => unknown) => unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: settings of unrelated types in one tree
export type AnySetting = Setting<any>;
export interface SettingTree {
  readonly [name: string]: AnySetting | SettingTree;
}

/** A setting with a default, in the form of a file. */
export function setting<V>(
  kind: Kind<NonNullable<V>>,
  fallback: unknown,
  doc: string,
  extras: Extras = {},
): Setting<V> {
  return { setting: true, kind, doc, presence: 'default', fallback, ...extras };
}

export function required<V>(
  kind: Kind<NonNullable<V>>,
  doc: string,
  extras: Extras = {},
): Setting<V> {
  return { setting: true, kind, doc, presence: 'required', fallback: undefined, ...extras };
}

export function optional<V>(
  kind: Kind<NonNullable<V>>,
  doc: string,
  extras: Extras = {},
): Setting<V | undefined> {
  return { setting: true, kind, doc, presence: 'optional', fallback: undefined, ...extras };
}

/**
 * A setting whose default comes from other settings; `shown` describes it for the documentation.
 */
export function derived<V>(
  kind: Kind<NonNullable<V>>,
  shown: string,
  derive: (read: (key: string) => unknown) => unknown,
  doc: string,
  extras: Extras = {},
): Setting<V> {
  return { setting: true, kind, doc, presence: 'derived', fallback: shown, derive, ...extras };
}

export const isSetting = (node: AnySetting | SettingTree): node is AnySetting =>
  node['setting'] === true;

/** `known-peers` → `knownPeers`. */
export type Camel<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S;

export const camel = (name: string): string =>
  name.replace(/-(.)/g, (_match, letter: string) => letter.toUpperCase());

/** The typed configuration that a tree of settings describes. */
export type ConfigOf<T> = {
  readonly [K in keyof T & string as Camel<K>]: T[K] extends Setting<infer V> ? V : ConfigOf<T[K]>;
};

/** A setting with its place: `rest-api.port`, variable `NODE_REST_API_PORT`. */
export interface PlacedSetting {
  readonly key: string;
  readonly env: string;
  readonly setting: AnySetting;
}

export function placed(tree: SettingTree, prefix = ''): PlacedSetting[] {
  return Object.entries(tree).flatMap(([name, node]) => {
    const key = prefix + name;
    if (!isSetting(node)) return placed(node, `${key}.`);
    return [{ key, env: variableOf(key), setting: node }];
  });
}

/** `rest-api.port` → `NODE_REST_API_PORT`; `data-service.port` → `NODE_DATA_PORT`. */
const variableOf = (key: string): string =>
  `NODE_${key
    .replace(/^data-service\./, 'data.')
    .replace(/[.-]/g, '_')
    .toUpperCase()}`;
