/**
 * Kinds of settings that are texts, and kinds made of others: lists, maps and records. They follow
 * the contract of kinds.ts.
 */
import { imagePattern, isRegistry } from '../../base/image-name.ts';
import { ipBytes, ipRange } from '../../base/ip-range.ts';
import { isObject } from '../../base/json/json.ts';
import { addressText } from '../../network/messages/peer-address.ts';
import type { Kind } from './kinds.ts';
import { textOf, Wrong } from './kinds.ts';
import { type Camel, camel } from './setting.ts';

interface TextRule {
  readonly name: string;
  readonly expected: string;
  readonly fix?: string;
  readonly pattern: RegExp;
}

/**
 * A text that matches a pattern. HOCON may read `0123` or `yes` as another type, so the value is
 * turned back into text.
 */
export function textLike(rule: TextRule): Kind<string> {
  return {
    name: rule.name,
    parse: (raw) =>
      isScalar(raw) && rule.pattern.test(String(raw))
        ? String(raw)
        : new Wrong(rule.expected, rule.fix),
    show: (value) => value,
    schema: { type: 'string', pattern: rule.pattern.source },
  };
}

const isScalar = (raw: unknown): boolean =>
  typeof raw === 'string' || typeof raw === 'number' || typeof raw === 'boolean';

export const text = textLike({ name: 'text', expected: 'a text', pattern: /^/ });

/** A secret. HOCON reads an unquoted 1e3 or 1.50 as a number, and its text is then lost. */
export const secretText: Kind<string> = {
  ...text,
  parse: (raw) =>
    typeof raw === 'string' || Number.isSafeInteger(raw)
      ? String(raw)
      : new Wrong('a text', 'write it in double quotes'),
};

const BASE58 = '[1-9A-HJ-NP-Za-km-z]';

export const address = textLike({
  name: 'address',
  expected: 'an address: 35 or 36 Base58 characters',
  fix: "copy it from the account generator's output",
  pattern: new RegExp(`^(address:)?${BASE58}{30,36}$`),
});

export const base58 = textLike({
  name: 'Base58',
  expected: 'a Base58 text (no 0, O, I or l)',
  pattern: new RegExp(`^${BASE58}+$`),
});

export const keyHash = textLike({
  name: 'Base58 hash',
  expected: 'the Base58 hash of a secret (32 bytes: 32 to 44 characters), never the secret itself',
  fix: 'make it with: platform-node api-key hash',
  pattern: new RegExp(`^${BASE58}{32,44}$`),
});

export const hostName = textLike({
  name: 'address',
  expected: 'an IP address or a host name, without a port',
  pattern: /^[A-Za-z0-9._:-]+$/,
});

/** A role that PostgreSQL lets somebody make. */
export const roleName = textLike({
  name: 'role',
  expected: 'the name of a role of PostgreSQL: 1 to 63 characters, not pg_…, public or none',
  fix: 'choose another name',
  pattern: /^(?!pg_|public$|none$).{1,63}$/,
});

export const registry: Kind<string> = {
  name: 'host or host:port',
  parse: (raw) =>
    isRegistry(textOf(raw))
      ? textOf(raw)
      : new Wrong('the domain of a registry, without a scheme and a path', REGISTRY_FIX),
  show: (value) => value,
  schema: { type: 'string' },
};

const REGISTRY_FIX = 'for example: "registry.example.org:5000"';

export const imageNames: Kind<string> = {
  name: 'image',
  parse: (raw) =>
    imagePattern(textOf(raw)) === undefined
      ? new Wrong('the name of an image, in which * stands for characters of one part', IMAGE_FIX)
      : textOf(raw),
  show: (value) => value,
  schema: { type: 'string' },
};

const IMAGE_FIX = 'for example: "registry.example.org/team/*"';

export const addressRange: Kind<string> = {
  name: 'address or range',
  parse: (raw) =>
    ipRange(textOf(raw)) === undefined
      ? new Wrong('an IP address or a range of them, for example "10.0.0.7" or "10.0.0.0/8"')
      : textOf(raw),
  show: (value) => value,
  schema: { type: 'string' },
};

export const httpUrl = textLike({
  name: 'URL',
  expected: 'the URL of a REST interface',
  fix: 'for example: http://127.0.0.1:6862',
  pattern: /^https?:\/\/[^\s/?#]+(\/[^\s?#]*)?$/,
});

/** `*`, or the origins themselves. */
export const origins: Kind<readonly string[]> = {
  name: '* or list of origin',
  parse(raw) {
    const given = Array.isArray(raw) ? raw.map(String) : [String(raw).trim()];
    if (given.includes('*')) {
      return given.length === 1 ? given : new Wrong('either * or a list of origins, not both');
    }
    const wrongs = given.flatMap((one, index) =>
      isOrigin(one)
        ? []
        : [new Wrong(AN_ORIGIN, AN_ORIGIN_FIX, Array.isArray(raw) ? [`${index}`] : [])],
    );
    return allOf(wrongs) ?? given;
  },
  show: (value) => value,
  schema: { anyOf: [{ enum: ['*'] }, { type: 'array', items: { type: 'string' } }] },
  compound: true,
};

const AN_ORIGIN =
  'an origin as browsers send it: scheme, host in lower case, port unless it is the default one';
const AN_ORIGIN_FIX = 'for example: ["https://wallet.example.org"]';

const isOrigin = (text: string): boolean =>
  /^https?:\/\/[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;

export const hostPort: Kind<string> = {
  name: 'host:port',
  parse(raw) {
    const match = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})$/.exec(textOf(raw));
    const port = Number(match?.[2]);
    return port >= 1 && port <= 65535
      ? textOf(raw)
      : new Wrong('host:port, for example "node-1.example:6864"', 'HOCON wants it in quotes');
  },
  show: (value) => value,
  schema: { type: 'string' },
};

/** The port has a default, so an IPv6 address with one stands in brackets. */
export const timeServer: Kind<string> = {
  name: 'host or host:port',
  parse(raw) {
    const value = textOf(raw);
    const match = /^(?:\[([0-9a-fA-F:.]+)\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(value);
    const [, bracketed, port = '123'] = match ?? [];
    const isHost = match !== null && (bracketed === undefined || isAddress6(bracketed));
    return isAddress6(value) || (isHost && Number(port) >= 1 && Number(port) <= 65535)
      ? value
      : new Wrong('host or host:port, for example "time.example.org"', 'HOCON wants it in quotes');
  },
  show: (value) => value,
  schema: { type: 'string' },
};

const isAddress6 = (value: string): boolean => ipBytes(value) !== undefined && value.includes(':');

/** Where a listener binds. HOCON reads a bare `off` as a boolean. */
export const listener: Kind<'off' | { readonly host: string; readonly port: number }> = {
  name: 'off or host:port',
  parse(raw) {
    const value = textOf(raw);
    if (value === 'off' || value === 'false') return 'off';
    const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+)):(\d{1,5})$/.exec(value);
    const host = match?.[1] ?? match?.[2];
    const port = Number(match?.[3]);
    return host !== undefined && port <= 65535
      ? { host, port }
      : new Wrong('off or host:port, for example "127.0.0.1:6863"', 'HOCON wants it in quotes');
  },
  show: (value) => (value === 'off' ? value : addressText(value)),
  schema: { type: 'string' },
};

const FORBIDDEN_IN_PATH = /[\\\u0400-\u052f]/u;

export const inHome = (value: string, home: string): string =>
  value === '~' || value.startsWith('~/') ? home + value.slice(1) : value;

/** A file or folder. `~/` stands for the home folder. */
export const path: Kind<string> = {
  name: 'path',
  parse(raw, { home }) {
    const value = typeof raw === 'string' ? raw.trim() : '';
    if (value === '' || FORBIDDEN_IN_PATH.test(value)) {
      return new Wrong(
        'a path with / as separator and without backslashes or Cyrillic characters',
        value.includes('\\') ? `write "${value.replace(/\\+/g, '/')}"` : undefined,
      );
    }
    return inHome(value, home);
  },
  show: (value) => value,
  schema: { type: 'string' },
};

/** One of a few words, in any case. */
export function choice<const W extends string>(...words: readonly W[]): Kind<W> {
  return {
    name: words.join(', '),
    parse(raw) {
      const wanted = textOf(raw).toLowerCase();
      const word = words.find((candidate) => candidate.toLowerCase() === wanted);
      return word ?? new Wrong(`one of ${words.join(', ')}`);
    },
    show: (value) => value,
    schema: { enum: words },
  };
}

export function list<V>(item: Kind<V>): Kind<readonly V[]> {
  return {
    name: `list of ${item.name}`,
    parse(raw, context) {
      if (!Array.isArray(raw)) return new Wrong(`a list of ${item.name}: [ … ]`);
      const values: V[] = [];
      const wrongs: Wrong[] = [];
      for (const [index, entry] of raw.entries()) {
        const value = item.parse(entry, context);
        if (value instanceof Wrong) wrongs.push(within(value, String(index)));
        else values.push(value);
      }
      return allOf(wrongs) ?? values;
    },
    show: (values) => values.map((value) => item.show(value)),
    schema: { type: 'array', items: item.schema },
    compound: true,
  };
}

/** A map from non-negative integers (feature ids, versions) to values. */
export function intMap<V>(item: Kind<V>): Kind<ReadonlyMap<number, V>> {
  return {
    name: `map of integer to ${item.name}`,
    parse(raw, context) {
      if (!isObject(raw)) return new Wrong(`a map of integers to ${item.name}: { 1 = … }`);
      const values = new Map<number, V>();
      const wrongs: Wrong[] = [];
      for (const [key, entry] of Object.entries(raw)) {
        if (!/^\d{1,5}$/.test(key)) wrongs.push(new Wrong(`integers as keys, not '${key}'`));
        const value = item.parse(entry, context);
        if (value instanceof Wrong) wrongs.push(within(value, key));
        else values.set(Number(key), value);
      }
      return allOf(wrongs) ?? values;
    },
    show: (values) =>
      Object.fromEntries([...values].map(([key, value]) => [key, item.show(value)])),
    schema: { type: 'object', additionalProperties: item.schema },
    compound: true,
  };
}

type FieldValues<F, O> = {
  readonly [K in keyof F & string as K extends O ? never : Camel<K>]: F[K] extends Kind<infer V>
    ? V
    : never;
} & {
  readonly [K in keyof F & string as K extends O ? Camel<K> : never]?: F[K] extends Kind<infer V>
    ? V
    : never;
};

/**
 * An object with exactly these fields; those named in `optional` may be left out. Fields of the
 * value are in camel case, like those of the configuration.
 */
export function record<F extends Record<string, Kind<unknown>>, O extends keyof F & string = never>(
  fields: F,
  optional: readonly O[] = [],
): Kind<FieldValues<F, O>> {
  const names = Object.keys(fields);
  const shape = `{${names.join(', ')}}`;
  const mayLack = (name: string): boolean => (optional as readonly string[]).includes(name);
  return {
    name: shape,
    parse(raw, context) {
      if (!isObject(raw)) return new Wrong(`an object ${shape}`);
      const wrongs = Object.keys(raw)
        .filter((key) => !names.includes(key))
        .map((key) => new Wrong(`an object ${shape}, without '${key}'`));
      const value: Record<string, unknown> = {};
      for (const name of names) {
        if (raw[name] === undefined || raw[name] === null) {
          if (!mayLack(name)) wrongs.push(new Wrong(`an object ${shape}; '${name}' is missing`));
          continue;
        }
        const field = fields[name]!.parse(raw[name], context);
        if (field instanceof Wrong) wrongs.push(within(field, name));
        else value[camel(name)] = field;
      }
      return allOf(wrongs) ?? (value as FieldValues<F, O>);
    },
    show(value) {
      const fieldsOf = value as Record<string, unknown>;
      const present = names.filter((name) => fieldsOf[camel(name)] !== undefined);
      return Object.fromEntries(
        present.map((name) => [name, fields[name]!.show(fieldsOf[camel(name)])]),
      );
    },
    schema: {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, fields[name]!.schema])),
      required: names.filter((name) => !mayLack(name)),
      additionalProperties: false,
    },
    compound: true,
  };
}

const within = ({ expected, fix, at, others }: Wrong, part: string): Wrong =>
  new Wrong(
    expected,
    fix,
    [part, ...at],
    others.map((other) => within(other, part)),
  );

/** One for all of them; undefined if there is none. */
function allOf([first, ...more]: readonly Wrong[]): Wrong | undefined {
  if (first === undefined) return undefined;
  const others = [...first.others, ...more.flatMap((one) => [one, ...one.others])];
  return new Wrong(first.expected, first.fix, first.at, others);
}
