/**
 * Where a search looks: each scope is a source of transactions with an index of its own
 * (data-service.md#search). A scope that cannot match the form of the text has no source, so
 * searching everywhere costs little.
 */
import { isBase58 } from '../../base/base58.ts';
import { I64_MAX } from '../../base/int.ts';
import { AUTHOR, PARTICIPANT } from '../crawler/rows/rows.ts';
import { carriedId, mayCarry } from '../schema/tables.ts';
import type { Scope } from './query-params.ts';
import { areFew, rows } from './reading.ts';
import type { DataServices } from './services.ts';
import { hasPart, soughtText } from './sought-text.ts';
import { afterPrefix, type SqlValues, startsWith } from './sql-values.ts';

/**
 * How an index finds the rows of a source: in the order of `seq`; by buckets, for parts of texts;
 * among the nearest rows first, for ranges of amounts; all at once, where they are few; or not at
 * all: then each row is compared, and the page is bounded by that (`COMPARED_MAX`).
 */
export type Finding =
  | 'in-order'
  | 'by-bucket'
  | 'few-by-bucket'
  | 'nearest-first'
  | 'at-once'
  | 'compared';

/** A part of a query: rows of `from` that satisfy `where`. `from` names its table `s`. */
export interface Source {
  readonly finding: Finding;
  /** Table; `txs` itself or one with its `seq`. */
  readonly from: string;
  /** Several of the rows may belong to one transaction. */
  readonly repeats?: boolean;
  /** The column in whose order an index has the rows, where that is not the order of `seq`. */
  readonly order?: string;
  /** Written when the statement is made, since it adds values to it. */
  where(values: SqlValues): string;
  /** The same as `where`, for an index that has these columns, then `seq`, and no other ones. */
  key?(values: SqlValues): readonly KeyColumn[];
}

export interface KeyColumn {
  readonly column: string;
  readonly value: string;
  /** What the index has rows of. */
  readonly only?: string;
}

const ALIAS = /^[-.0-9@_a-z]{1,30}$/;
const ADDRESS_CHARS = 35;
const ADDRESS_CHARS_MAX = 36;
const ADDRESS_CHARS_MIN = 8;
const ID_CHARS_MIN = 4;
const SIGNATURE_CHARS_MIN = 8;
/** Trigrams have three characters. */
const PART_CHARS_MIN = 3;
const BLOCKS_MAX = 20;
const ASSETS_MAX = 20;
const INT32_MAX = 2_147_483_647n;

type Look = (
  text: string,
  services: DataServices,
) => readonly Source[] | Promise<readonly Source[]>;

const inTable = (from: string, where: Source['where'], finding: Finding = 'in-order'): Source => ({
  from,
  where,
  finding,
});

const repeated = (source: Source, order?: string): Source => ({
  ...source,
  repeats: true,
  ...(order === undefined ? {} : { order }),
});

/** Transactions in which an address has a role. */
export const partyIs = (address: string, role: number): Source => ({
  ...inTable('tx_addresses', (values) => `s.address = ${values.add(address)} AND s.role = ${role}`),
  key: (values) => [
    { column: 's.address', value: values.add(address) },
    { column: 's.role', value: `${role}::smallint` },
  ],
});

/** A beginning stands for the addresses that the chain knows; more of them are taken together. */
const ADDRESSES_MAX = 20;

const addresses =
  (...roles: readonly number[]): Look =>
  async (text, services) => {
    const fits = text.length >= ADDRESS_CHARS_MIN && text.length <= ADDRESS_CHARS_MAX;
    if (!fits || !isBase58(text)) return [];
    const found =
      text.length >= ADDRESS_CHARS ? [{ address: text }] : await knownAddresses(text, services);
    if (found.length <= ADDRESSES_MAX) {
      return found.flatMap(({ address }) => roles.map((role) => partyIs(address, role)));
    }
    const isRole = `s.role IN (${roles.join(', ')})`;
    const where: Source['where'] = (values) =>
      `${startsWith('s.address', text, values)} AND ${isRole}`;
    return [repeated(inTable('tx_addresses', where, 'at-once'), 's.address')];
  };

const knownAddresses = (prefix: string, services: DataServices) =>
  rows<{ address: string }>(
    services,
    `SELECT address FROM users WHERE address >= $1 AND address < $2 LIMIT ${ADDRESSES_MAX + 1}`,
    [prefix, afterPrefix(prefix)],
  );

/** Rows of which a column of Base58 begins with the text. */
function startingWith(
  text: string,
  column: string,
  from: string,
  minimum: number,
  only?: string,
): readonly Source[] {
  if (text.length < minimum || !isBase58(text)) return [];
  const where: Source['where'] = (values) =>
    [...(only === undefined ? [] : [only]), startsWith(column, text, values)].join(' AND ');
  return [repeated(inTable(from, where, 'at-once'), column)];
}

const LOOKS: Readonly<Record<Exclude<Scope, 'in_all'>, Look>> = {
  in_description: async (text, services) =>
    [...text].length < PART_CHARS_MIN ? [] : [await inText('txs', 's.message', text, services)],

  in_sums(text) {
    const sum = /^\d{1,19}$/.test(text) ? BigInt(text) : undefined;
    if (sum === undefined || sum > I64_MAX) return [];
    const isSum: Source['where'] = (values) => `s.amount = ${values.add(sum, 'bigint')}`;
    return [inTable('txs', isSum), repeated(inTable('tx_amounts', isSum))];
  },

  in_blocks: lookInBlocks,

  in_aliases: lookInAliases,

  in_addresses: addresses(AUTHOR, PARTICIPANT),
  in_addresses_author: addresses(AUTHOR),
  in_addresses_participant: addresses(PARTICIPANT),
  in_tx_ids: (text) => [
    ...startingWith(text, 's.id', 'txs', ID_CHARS_MIN),
    ...startingWith(text, carriedId('s.'), 'txs', ID_CHARS_MIN, mayCarry('s.')),
  ],
  in_token_ids: lookInAssets,
  in_signatures: (text) => [
    ...startingWith(text, 's.signature', 'txs', SIGNATURE_CHARS_MIN),
    ...startingWith(text, 's.proof', 'tx_proofs', SIGNATURE_CHARS_MIN),
  ],
  in_keys_values: lookInEntries,
};

async function lookInBlocks(text: string, services: DataServices): Promise<readonly Source[]> {
  const isHeight = /^\d{1,10}$/.test(text) && BigInt(text) <= INT32_MAX;
  const isId = text.length >= SIGNATURE_CHARS_MIN && isBase58(text);
  if (!isHeight && !isId) return [];
  const columns = 'SELECT first_seq, tx_count FROM blocks';
  const found = await rows<{ first_seq: string; tx_count: number }>(
    services,
    isHeight
      ? `${columns} WHERE height = $1`
      : `${columns} WHERE signature >= $1 AND signature < $1 || '~' LIMIT ${BLOCKS_MAX}`,
    [isHeight ? Number(text) : text],
  );
  return found.map(({ first_seq, tx_count }) => {
    const first = Number(first_seq);
    return inTable(
      'txs',
      (values) => `s.seq BETWEEN ${values.add(first)} AND ${values.add(first + tx_count - 1)}`,
    );
  });
}

/** Of more aliases at once, every use of an alias is compared. */
const ALIASES_MAX = 20;

async function lookInAliases(text: string, services: DataServices): Promise<readonly Source[]> {
  if (!ALIAS.test(text)) return [];
  const known = await rows<{ alias: string; address: string }>(
    services,
    `SELECT alias, address FROM aliases WHERE alias >= $1 AND alias < $2
     ORDER BY alias LIMIT ${ALIASES_MAX + 1}`,
    [text, afterPrefix(text)],
  );
  const uses =
    known.length > ALIASES_MAX
      ? [
          repeated(
            inTable('tx_aliases', (values) => startsWith('s.alias', text, values)),
            's.alias',
          ),
        ]
      : known.map(({ alias }) =>
          inTable('tx_aliases', (values) => `s.alias = ${values.add(alias)}`),
        );
  const owner = known.find(({ alias }) => alias === text)?.address;
  const roles = owner === undefined ? [] : [AUTHOR, PARTICIPANT];
  return [...uses, ...roles.map((role) => partyIs(owner!, role))];
}

async function lookInAssets(text: string, services: DataServices): Promise<readonly Source[]> {
  const byAsset = (id: string) => inTable('txs', (values) => `s.asset_id = ${values.add(id)}`);
  if (text === 'NATIVE') return [byAsset(text)];
  if (text.length < ID_CHARS_MIN || !isBase58(text)) return [];
  const found = await rows<{ asset_id: string }>(
    services,
    `SELECT asset_id FROM assets WHERE asset_id >= $1 AND asset_id < $1 || '~' LIMIT ${ASSETS_MAX}`,
    [text],
  );
  return found.map(({ asset_id }) => byAsset(asset_id));
}

/** The first characters are indexed, the whole text is compared. */
export const keyIs = (key: string, values: SqlValues): string =>
  `left(s.key, 128) = left(${values.add(key, 'text')}, 128) AND s.key = ${values.add(key)}`;
export const valueIs = (value: string, values: SqlValues): string =>
  `left(s.value, 64) = left(${values.add(value, 'text')}, 64) AND s.value = ${values.add(value)}`;

/** Rows of which a column has the text. */
async function inText(
  from: string,
  column: string,
  text: string,
  services: DataServices,
): Promise<Source> {
  const sought = await soughtText(text, services);
  const where = (values: SqlValues): string => hasPart(column, sought, values);
  if (sought.indexed === undefined) return inTable(from, where, 'compared');
  const few = await areFew(services, `${from} s`, where);
  return inTable(from, where, few ? 'few-by-bucket' : 'by-bucket');
}

async function lookInEntries(text: string, services: DataServices): Promise<readonly Source[]> {
  const exact = [
    repeated(inTable('data_entries', (values) => keyIs(text, values))),
    repeated(inTable('data_entries', (values) => valueIs(text, values))),
  ];
  if ([...text].length < PART_CHARS_MIN) return exact;
  const columns = ['left(s.key, 128)', 'left(s.value, 256)'];
  const parts = await Promise.all(
    columns.map((column) => inText('data_entries', column, text, services)),
  );
  return [...exact, ...parts.map((part) => repeated(part))];
}

/** Empty where no scope can match the text. */
export async function searchSources(
  text: string,
  scopes: readonly Scope[],
  services: DataServices,
): Promise<readonly Source[]> {
  const all = Object.keys(LOOKS) as (keyof typeof LOOKS)[];
  const asked = scopes.includes('in_all') ? all : (scopes as typeof all);
  // Author and participant are parts of the addresses.
  const distinct = asked.includes('in_addresses')
    ? asked.filter((scope) => !scope.startsWith('in_addresses_'))
    : asked;
  const found = await Promise.all(distinct.map((scope) => LOOKS[scope](text, services)));
  return found.flat();
}
