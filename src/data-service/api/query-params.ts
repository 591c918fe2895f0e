/** Parameters of the data service's queries (data-service.md#parameters). */

import { isBase58 } from '../../base/base58.ts';
import { type ApiError, apiError } from '../../base/errors.ts';
import { I64_MAX } from '../../base/int.ts';
import { MIB } from '../../base/limits/budget.ts';
import { BadNumber, type Param } from '../../rest-framework/params.ts';
import { ROLES } from '../../tx/fields/permission.ts';
import { allTypes } from '../../tx/registry.ts';

const LIMIT_MAX = 500;
const SEARCH_CHARS_MAX = 512;
const DAY_MS = 86_400_000;

export const SCOPES = [
  'in_description',
  'in_sums',
  'in_blocks',
  'in_aliases',
  'in_addresses',
  'in_addresses_author',
  'in_addresses_participant',
  'in_tx_ids',
  'in_token_ids',
  'in_signatures',
  'in_keys_values',
  'in_all',
] as const;
export type Scope = (typeof SCOPES)[number];
export const USER_SCOPES = ['in_addresses', 'in_aliases'] as const;

const wrong = (text: string): BadNumber => new BadNumber(text);

const optional = <T>(param: Param<T>): Param<T | undefined> => ({
  ...param,
  optional: true,
  otherwise: undefined,
});

function integer(text: string, least: bigint, most: bigint): bigint {
  const value = /^[+-]?\d{1,40}$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
  if (value === undefined) throw wrong('must be an integer');
  if (value >= least && value <= most) return value;
  throw wrong(
    most === I64_MAX
      ? `must be from ${least} to ${I64_MAX}`
      : `must be between ${least} and ${most}`,
  );
}

export const positive = (doc: string, most: number): Param<number> => ({
  doc,
  schema: { type: 'integer', minimum: 1, maximum: most },
  parse: (text) => Number(integer(text, 1n, BigInt(most))),
});

const amountOf = (doc: string): Param<bigint | undefined> =>
  optional({
    doc,
    schema: { type: 'integer', format: 'int64', minimum: 0 },
    parse: (text) => integer(text, 0n, I64_MAX),
  });

/** One value of a list, or several separated by commas. */
const listOf = <T>(
  doc: string,
  items: Param<T>['schema'],
  read: (text: string) => T,
): Param<readonly T[] | undefined> =>
  optional({
    doc: `${doc} One, or several separated by commas.`,
    schema: { anyOf: [items, { type: 'string' }] },
    parse: (text) => [...new Set(text.split(',').map((one) => read(one.trim())))],
  });

const base58 = (doc: string): Param<string> => ({
  doc,
  schema: { type: 'string', maxLength: 128 },
  parse(text) {
    if (text.length > 128 || !isBase58(text)) throw wrong('must be Base58');
    return text;
  },
});

export const index = optional(
  positive(
    'Only rows with an ordinal up to this one, or from it on with sort=asc.',
    Number.MAX_SAFE_INTEGER,
  ),
);

export const limit: Param<number> = {
  ...positive(`Rows of a page at most; default ${LIMIT_MAX}.`, LIMIT_MAX),
  optional: true,
  otherwise: LIMIT_MAX,
};

export const countTo = optional(
  positive(
    'Count no further: a larger number is given as one more than this. Long counts need it.',
    1_000_000,
  ),
);

export type Sort = 'asc' | 'desc';

export const sort: Param<Sort> = {
  doc: 'Order by ordinal: desc (the newest first) or asc.',
  schema: { enum: ['desc', 'asc'] },
  optional: true,
  otherwise: 'desc',
  parse(text) {
    if (text === 'asc' || text === 'desc') return text;
    throw wrong('must be asc or desc');
  },
};

export const search: Param<string | undefined> = optional({
  doc: 'Text to find; `scope` says where. Without three letters or digits in a row pages may end early.',
  schema: { type: 'string', minLength: 1, maxLength: SEARCH_CHARS_MAX },
  parse(text) {
    const trimmed = text.trim();
    if (trimmed.length < 1 || trimmed.length > SEARCH_CHARS_MAX) {
      throw wrong(`must have 1 to ${SEARCH_CHARS_MAX} characters`);
    }
    if (trimmed.includes('\0')) throw wrong('must not contain U+0000');
    return trimmed;
  },
});

/** The refusal to count further where a client does not say that it needs no exact number. */
export const tooManyToCount = (most: number): ApiError =>
  apiError('InvalidQuery').with({
    validationErrors: { countTo: `must be at most ${most}, since there are more transactions` },
  });

/** The refusal to look at so many rows for those to be counted. */
export const tooManyToLookAt = (most: number): ApiError =>
  apiError('InvalidQuery').with({
    validationErrors: {
      countTo: `must be smaller, since more than ${most} transactions would have to be looked at`,
    },
  });

/** The refusal to compare a text without trigrams with more than so many rows. */
export const uncountable = (most: number, rows: string): ApiError =>
  apiError('InvalidQuery').with({
    validationErrors: {
      search: `needs three letters or digits in a row to be counted in more than ${most} ${rows}`,
    },
  });

export const scopesOf = <S extends Scope>(allowed: readonly S[]): Param<readonly S[] | undefined> =>
  listOf('Where to search; the prefix `in_` may be left out.', { enum: allowed }, (text) => {
    const found = allowed.find((scope) => scope === text || scope === `in_${text}`);
    if (found === undefined) throw wrong(`must be one of ${allowed.join(', ')}`);
    return found;
  });

const KNOWN_TYPES = allTypes.map(({ type }) => type);

export const type = listOf('Type of transaction.', { enum: KNOWN_TYPES }, (text) => {
  const found = KNOWN_TYPES.find((known) => String(known) === text);
  if (found === undefined) throw wrong('must be known types of transactions');
  return found;
});

export const assetId = optional({
  ...base58('Id of an asset, or NATIVE for the native coin.'),
  parse: (text, scheme) => (text === 'NATIVE' ? text : base58('').parse(text, scheme)),
});

export const amount = amountOf('The exact amount; needs one type and assetId.');
export const amountFrom = amountOf('The least amount; needs one type and assetId.');
export const amountTo = amountOf('The largest amount; needs one type and assetId.');

/** The first millisecond of a day in UTC. */
const day = (doc: string): Param<number | undefined> =>
  optional({
    doc,
    schema: { type: 'string', format: 'date' },
    parse(text) {
      const [, year = '', month = '', date = ''] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
      const ms = dayNumber(Number(year), Number(month), Number(date));
      if (year === '' || ms === undefined) throw wrong('must be a date yyyy-mm-dd');
      return ms * DAY_MS;
    },
  });

export const dateFrom = day('First day, in UTC; needs dateTo.');
export const dateTo = day('Last day, in UTC, included; needs dateFrom.');
export const lastMs = (dayMs: number): number => dayMs + DAY_MS - 1;

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Days since 1970-01-01 in the Gregorian calendar; undefined where there is no such day. */
function dayNumber(year: number, month: number, date: number): number | undefined {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = (MONTH_DAYS[month - 1] ?? 0) + (isLeap && month === 2 ? 1 : 0);
  if (date < 1 || date > days) return undefined;
  const years = year - 1;
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  const before = MONTH_DAYS.slice(0, month - 1).reduce((sum, length) => sum + length, 0);
  const ofYear = before + (isLeap && month > 2 ? 1 : 0) + date - 1;
  return years * 365 + leapDays + ofYear - 719_162;
}

export const permissions = listOf('Roles.', { enum: ROLES }, (text) => {
  const found = ROLES.find((role) => role === text);
  if (found === undefined) throw wrong(`must be roles: ${ROLES.join(', ')}`);
  return found;
});

export const sender = optional(base58('Only transactions that this address has sent.'));
export const recipient = optional(base58('Only transactions in which this address takes part.'));
export const heightFrom = optional(positive('Lowest height of a block.', 2_147_483_647));
export const heightTo = optional(positive('Highest height of a block.', 2_147_483_647));
export const contractId = optional(base58('Only creation, calls and changes of this contract.'));

export const extended: Param<boolean> = {
  doc: 'true: all fields of the transaction, and its index.',
  schema: { type: 'boolean' },
  optional: true,
  otherwise: false,
  parse(text) {
    if (text === 'true' || text === 'false') return text === 'true';
    throw wrong('must be true or false');
  },
};

/** In a path. Throws BadNumber. */
export const height = (text: string): number => Number(integer(text, 1n, I64_MAX));

/** A part of the path, decoded; any text. */
export { text as pathText } from '../../rest-framework/params.ts';

export const BODY_BYTES_MAX = MIB / 16;

/** No stored text has U+0000, so a text with it matches none; a statement may not hold it either. */
export const storable = (text: string): string => text.replaceAll('\0', '\u{FFFD}').toWellFormed();
