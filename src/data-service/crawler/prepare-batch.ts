/**
 * Makes the rows of a batch before its transaction begins, while the batch before it is written.
 * They follow from the blocks, from the place where they begin, and from what earlier blocks named.
 */
import { utf8 } from '../../base/bytes.ts';
import { MIB } from '../../base/limits/budget.ts';
import type { Queries } from '../../base/ports/database.ts';
import { inSlices } from '../../concurrency/steps.ts';
import { endlessSlice } from '../../concurrency/time-slice.ts';
import type { ChainBlock } from './chain-block.ts';
import { COLUMNS, type Table } from './rows/columns.ts';
import { aliasesNamed, leasesEnded } from './rows/described.ts';
import { type Aliases, addRow, type Rows, rowsOf } from './rows/rows.ts';

/** Where the rows of the next block begin. */
export interface Cursor {
  /** 0 for an empty store. */
  readonly height: number;
  readonly signature: string;
  /** Ordinal of the next transaction. */
  readonly nextSeq: number;
  /** Ordinal of the next user. */
  readonly nextUser: number;
}

export interface Batch {
  readonly blocks: readonly ChainBlock[];
  /** The last stored block that stays. */
  readonly after: Cursor;
  readonly rows: Rows;
  /** In the text form of COPY, in pieces of whole lines. */
  readonly texts: readonly (readonly [table: Table, text: Uint8Array])[];
  /** Addresses whose balances may have changed, without those of earlier batches. */
  readonly marked: readonly string[];
  /** Assets of whose issuers the same holds. */
  readonly sponsored: readonly string[];
  readonly next: Cursor;
}

/**
 * What is in the store once all earlier batches are written, as far as these have met it. What the
 * store has above `since` counts only if it is listed here: a batch that removes a left branch may
 * be under way.
 */
export interface KnownRows {
  readonly since: Cursor;
  readonly aliases: Aliases;
  /** Id of a lease → its recipient. */
  readonly lessees: Map<string, string>;
  readonly users: Set<string>;
  /** Addresses whose balances are marked, and assets whose issuers are. */
  readonly marked: Set<string>;
}

export const nothingKnown = (since: Cursor): KnownRows => ({
  since,
  aliases: new Map(),
  lessees: new Map(),
  users: new Set(),
  marked: new Set(),
});

/** Blocks above the cursor may be in the store still: they go when the next batch is written. */
export async function readCursor(
  db: Queries,
  { height, signature }: { readonly height: number; readonly signature: string },
): Promise<Cursor> {
  const [block] = await db.query<{ next: string }>(
    'SELECT first_seq + tx_count AS next FROM blocks WHERE height = $1',
    [height],
  );
  const [user] = await db.query<{ last: string | null }>(
    'SELECT max(ordinal) AS last FROM users WHERE first_height <= $1',
    [height],
  );
  const nextUser = Number(user?.last ?? 0) + 1;
  return { height, signature, nextSeq: Number(block?.next ?? 1), nextUser };
}

/** A batch ends with the block that reaches it: by its rows, or by the JSON that they come from. */
export const BATCH_BYTES = 16 * MIB;
/** Of COPY at once. */
const PIECE_BYTES = MIB;

/**
 * The first blocks, as many as a batch takes. Adds to `known` what the batch names. `slice`: of who
 * writes another batch meanwhile, because a socket takes 200 KB of it at once, and the store waits
 * for the next until the event loop runs.
 */
export async function prepareBatch(
  db: Queries,
  waiting: readonly ChainBlock[],
  after: Cursor,
  known: KnownRows,
  slice = endlessSlice,
): Promise<Batch> {
  await learnLessees(db, waiting, known);
  await learnAliases(db, waiting, known);
  const { aliases, lessees } = known;
  const making = rowsOf(waiting, after.nextSeq, aliases, lessees, BATCH_BYTES);
  const rows = await inSlices(making, slice);
  const blocks = waiting.slice(0, rows.blocks);
  const nextUser = await addUsers(db, rows, after.nextUser, known);
  const marked = unmarked(rows.users.keys(), known);
  const sponsored = unmarked(rows.feeAssets, known);
  const { height, signature } = blocks.at(-1) ?? after;
  return {
    blocks,
    after,
    rows,
    texts: await inSlices(textsOf(rows), slice),
    marked,
    sponsored,
    next: { height, signature, nextSeq: rows.nextSeq, nextUser },
  };
}

/** Those that no earlier batch has marked; this one does. */
function unmarked(names: Iterable<string>, { marked }: KnownRows): string[] {
  const found = [...names].filter((name) => !marked.has(name));
  for (const name of found) marked.add(name);
  return found;
}

/** A step for each piece. */
function* textsOf({ lines }: Rows): Generator<undefined, Batch['texts']> {
  const texts: [Table, Uint8Array][] = [];
  for (const table of Object.keys(COLUMNS) as Table[]) {
    for (const piece of piecesOf(lines[table])) {
      texts.push([table, piece]);
      yield undefined;
    }
  }
  return texts;
}

/** Each line with its end. No piece is much longer than its limit, unless a single line is. */
function* piecesOf(lines: readonly string[]): Generator<Uint8Array> {
  let start = 0;
  let length = 0;
  for (const [i, line] of lines.entries()) {
    length += line.length + 1;
    if (length < PIECE_BYTES && i < lines.length - 1) continue;
    yield utf8([...lines.slice(start, i + 1), ''].join('\n'));
    start = i + 1;
    length = 0;
  }
}

/** A lease has its recipient on every branch, so one of a left branch may serve, too. */
async function learnLessees(
  db: Queries,
  blocks: readonly ChainBlock[],
  { lessees }: KnownRows,
): Promise<void> {
  const ids = [...leasesEnded(blocks, lessees)].filter((id) => !lessees.has(id));
  if (ids.length === 0) return;
  const rows = await db.query<{ id: string; recipient: string | null }>(
    `SELECT id, body->>'recipient' AS recipient FROM txs WHERE id = ANY($1::text[])`,
    [ids],
  );
  for (const { id, recipient } of rows) if (recipient !== null) lessees.set(id, recipient);
}

async function learnAliases(
  db: Queries,
  blocks: readonly ChainBlock[],
  { aliases, lessees, since }: KnownRows,
): Promise<void> {
  const names = [...aliasesNamed(blocks, lessees)].filter((name) => !aliases.has(name));
  if (names.length === 0) return;
  // One by one, by the primary key: for a list the store may choose the index for parts of texts.
  const rows = await db.query<{ alias: string; address: string; seq: string }>(
    `SELECT found.* FROM unnest($1::text[]) AS named(alias) CROSS JOIN LATERAL (
       SELECT alias, address, seq FROM aliases WHERE aliases.alias = named.alias LIMIT 1) AS found`,
    [names],
  );
  for (const { alias, address, seq } of rows) {
    if (Number(seq) < since.nextSeq) aliases.set(alias, address);
  }
}

/** In the order in which the chain names them: their ordinals are the same after every crawl. */
async function addUsers(
  db: Queries,
  rows: Rows,
  nextUser: number,
  known: KnownRows,
): Promise<number> {
  const { users } = rows;
  const unknown = [...users.keys()].filter((address) => !known.users.has(address));
  if (unknown.length > 0 && known.since.height > 0) {
    const found = await db.query<{ address: string; first: number }>(
      'SELECT address, first_height AS first FROM users WHERE address = ANY($1::text[])',
      [unknown],
    );
    for (const { address, first } of found)
      if (first <= known.since.height) known.users.add(address);
  }
  let ordinal = nextUser;
  for (const address of unknown) {
    if (known.users.has(address)) continue;
    const first = users.get(address);
    addRow(rows, 'users', [address, ordinal++, first?.height, first?.ts]);
    known.users.add(address);
  }
  return ordinal;
}
