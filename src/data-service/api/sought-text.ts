/** Parts of texts, and whether an index of trigrams finds them. */
import type { Database } from '../../base/ports/database.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import { trigramSchema } from '../schema/trigrams.ts';
import { rows } from './reading.ts';
import type { DataServices } from './services.ts';
import { literally, type SqlValues } from './sql-values.ts';

export interface SoughtText {
  readonly text: string;
  /** A part of it that an index finds; undefined where none does and each row is compared. */
  readonly indexed: string | undefined;
}

/** An index of trigrams knows letters and digits alone, and no character that is neither here. */
const LETTERS = /[\p{L}\p{N}]{3}/u;
const LETTER = /[\p{L}\p{N}]/u;
/** In every database. */
const ASCII_LETTER = /[0-9A-Za-z]/;
const TRIGRAM_CHARS = 3;
/** Each three characters of a text are one more list to read, and few lists say enough. */
const INDEXED_CHARS = 12;

/** A text that is sought has at most 512, so a search never forgets what it has just asked for. */
const KNOWN_CHARS = 4096;
const known = new WeakMap<Database, BoundedCache<string, boolean>>();

/**
 * Whether a character may be part of a trigram. The locale of the database decides about letters, and
 * numbers such as ² are none of its digits, so the database is asked for each character once.
 */
async function inTrigrams(
  chars: readonly string[],
  services: Parameters<typeof rows>[0],
): Promise<(char: string) => boolean> {
  const db = services.db();
  const cache = (db && known.get(db)) ?? new BoundedCache<string, boolean>(KNOWN_CHARS);
  if (db !== undefined) known.set(db, cache);
  const others = chars.filter((char) => LETTER.test(char) && !ASCII_LETTER.test(char));
  const unknown = [...new Set(others)].filter((char) => !cache.has(char));
  if (unknown.length > 0) {
    const schema = await trigramSchema({ query: (sql) => rows(services, sql) });
    const shown = `${schema === undefined ? '' : `${schema}.`}show_trgm(char)`;
    const found = await rows<{ char: string }>(
      services,
      `SELECT char FROM unnest($1::text[]) AS asked(char) WHERE cardinality(${shown}) > 0`,
      [unknown],
    );
    const indexed = new Set(found.map(({ char }) => char));
    for (const char of unknown) cache.set(char, indexed.has(char));
  }
  return (char) => ASCII_LETTER.test(char) || cache.get(char) === true;
}

export async function soughtText(
  text: string,
  services: Pick<DataServices, 'db' | 'meter' | 'signal'>,
): Promise<SoughtText> {
  if (!LETTERS.test(text)) return { text, indexed: undefined };
  const chars = [...text];
  const isIndexed = await inTrigrams(chars, services);
  const start = chars.findIndex(
    (_, i) =>
      i + TRIGRAM_CHARS <= chars.length && chars.slice(i, i + TRIGRAM_CHARS).every(isIndexed),
  );
  if (start === -1) return { text, indexed: undefined };
  if (chars.length <= INDEXED_CHARS) return { text, indexed: text };
  return { text, indexed: chars.slice(start, start + INDEXED_CHARS).join('') };
}

/** The column has the text, in capitals or not. */
export function hasPart(column: string, { text, indexed }: SoughtText, values: SqlValues): string {
  // No index serves it.
  const compared = (): string => `(${column} || '') ILIKE ${part(text, values)}`;
  if (indexed === undefined) return compared();
  const found = `${column} ILIKE ${part(indexed, values)}`;
  return indexed === text ? found : `${found} AND ${compared()}`;
}

const part = (text: string, values: SqlValues): string => values.add(`%${literally(text)}%`);
