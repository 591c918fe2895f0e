/** Parts of texts, and whether an index of trigrams finds them. */
import type { Database } from '../../base/ports/database.ts';
import { rows } from './reading.ts';
import type { DataServices } from './services.ts';
import { literally, type SqlValues } from './sql-values.ts';

export interface SoughtText {
  readonly text: string;
  /** A part of it that an index finds; undefined where none does and each row is compared. */
  readonly indexed: string | undefined;
}

/** An index of trigrams knows letters and digits alone. */
const TRIGRAM = /[\p{L}\p{N}]{3}/u;
/** In a database with the locale C. */
const ASCII_TRIGRAM = /[0-9A-Za-z]{3}/;
/** Each three characters of a text are one more list to read, and few lists say enough. */
const INDEXED_CHARS = 12;

const trigrams = new WeakMap<Database, RegExp>();

/** What a trigram is depends on the locale of the database, which is asked once. */
async function trigramOf(services: Parameters<typeof rows>[0]): Promise<RegExp> {
  const db = services.db();
  const known = db && trigrams.get(db);
  if (known !== undefined) return known;
  const [asked] = await rows<{ all: boolean }>(
    services,
    `SELECT cardinality(show_trgm('яйц')) > 0 AS all`,
  );
  const found = asked?.all === true ? TRIGRAM : ASCII_TRIGRAM;
  if (db !== undefined) trigrams.set(db, found);
  return found;
}

export async function soughtText(
  text: string,
  services: Pick<DataServices, 'db' | 'meter' | 'signal'>,
): Promise<SoughtText> {
  if (!TRIGRAM.test(text)) return { text, indexed: undefined };
  const trigram = (await trigramOf(services)).exec(text);
  if (trigram === null) return { text, indexed: undefined };
  if ([...text].length <= INDEXED_CHARS) return { text, indexed: text };
  const chars = [...text.slice(trigram.index)];
  return { text, indexed: chars.slice(0, INDEXED_CHARS).join('') };
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
