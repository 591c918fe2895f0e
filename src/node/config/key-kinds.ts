/** Values of the settings of API keys with names. */
import type { NamedKey } from '../../rest/access-keys.ts';
import { isoDate, timeOfIsoDate } from '../../rest-framework/iso-date.ts';
import { type Kind, textOf, Wrong } from './kinds.ts';
import { keyHash, list, record, textLike } from './text-kinds.ts';

const scope = textLike({
  name: 'scope',
  expected: 'read, sign, sign:<address>, privacy, peers or admin',
  pattern: /^(read|privacy|peers|admin|sign(:[1-9A-HJ-NP-Za-km-z]{35})?)$/,
});

const keyName = textLike({
  name: 'name',
  expected: 'a name of at most 40 letters, digits, dots, dashes and underscores',
  pattern: /^[A-Za-z0-9._-]{1,40}$/,
});

/** Milliseconds since 1970; a day without a time begins in UTC. */
const instant: Kind<number> = {
  name: 'date',
  parse: (raw) =>
    timeOfIsoDate(textOf(raw)) ?? new Wrong('a date such as 2027-01-31 or 2027-01-31T12:00:00Z'),
  show: isoDate,
  schema: { type: 'string' },
};

const keys = list(
  record({ name: keyName, hash: keyHash, scopes: list(scope), expires: instant }, ['expires']),
);

export const namedKeys: Kind<readonly NamedKey[]> = {
  ...keys,
  parse(raw, context) {
    const values = keys.parse(raw, context);
    if (values instanceof Wrong) return values;
    for (const field of ['name', 'hash'] as const) {
      const all = values.map((key) => key[field]);
      if (new Set(all).size < all.length)
        return new Wrong(`keys of which no two have one ${field}`);
    }
    if (values.some(({ scopes }) => scopes.length === 0)) return new Wrong('a scope for each key');
    return values;
  },
};
