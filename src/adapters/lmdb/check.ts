/**
 * Checks that the file of a store holds what was written to it. The file is read in full, without
 * LMDB: before LMDB maps it, unless a mark vouches for it (check-mark.ts), and in the background
 * while it is open (scrub.ts).
 *
 * The check finds a changed bit wherever it matters: rows have checksums (sums.ts), keys have an
 * order, each page has a number and one use, trees count their parts, and the two metas have
 * consecutive numbers. Only bytes that are never read escape it: free pages, unused bytes of pages,
 * and the older meta as long as its number is right.
 */
import { existsSync, statSync } from 'node:fs';
import {
  METAS,
  type Meta,
  NODE,
  PageFile,
  readTree,
  TREE_BYTES,
  type Tree,
} from './database-pages.ts';
import { unseal } from './sums.ts';
import { type Fault, type Node, viewOf, Walk } from './trees.ts';

export interface NamedTable {
  readonly id: number;
  readonly name: string;
}

export type FileState =
  | { readonly kind: 'new' }
  | { readonly kind: 'intact'; readonly pages: number }
  /** The file was made before rows had checksums. */
  | { readonly kind: 'old' }
  | { readonly kind: 'damaged'; readonly why: string };

/** The name of an empty sub-database that identifies the format of rows. */
export const FORMAT = 'format-2';

const FORMAT_TABLE = -1;
const VERSION = 2;
const TURN_PAGES = 512;

class Damage extends Error {}

/** How the check shares the thread: after each `turnPages` pages it waits for `rest`. */
export interface Pace {
  readonly turnPages: number;
  readonly rest: () => Promise<void>;
}

const quickly: Pace = {
  turnPages: TURN_PAGES,
  rest: () => new Promise((resolve) => setImmediate(resolve)),
};

const fault: Fault = (why) => {
  throw new Damage(why);
};

/** The file may be open, if the state of its newest meta is kept meanwhile. */
export function checkFile(
  path: string,
  tables: readonly NamedTable[],
  pace = quickly,
): Promise<FileState> {
  return checked(path, async (file) => {
    const found = findTables(file, tables);
    if ('kind' in found) return found;
    await checkTables(found, tables, pace);
    found.walk.checkFree();
    return { kind: 'intact', pages: found.walk.pages };
  });
}

/** Reads the beginning and the list of tables only. */
export function checkBeginning(path: string, tables: readonly NamedTable[]): Promise<FileState> {
  return checked(path, async (file) => {
    const found = findTables(file, tables);
    if ('kind' in found) return found;
    const pages = found.walk.pages;
    const isWhole = file.size >= (found.meta.lastPage + 1) * file.pageBytes;
    return isWhole ? { kind: 'intact', pages } : { kind: 'damaged', why: 'the file is cut short' };
  });
}

/** What the pages of a file are used for. */
export interface FileUse {
  readonly kind: 'used';
  readonly pageBytes: number;
  readonly pages: number;
  readonly freePages: number;
  /** By the number of the table. */
  readonly tables: ReadonlyMap<number, { readonly rows: number; readonly pages: number }>;
}

/** From the beginning and the list of tables only. */
export function useOfFile(
  path: string,
  tables: readonly NamedTable[],
): Promise<FileUse | Exclude<FileState, { kind: 'intact' }>> {
  return checked(path, async (file) => {
    const found = findTables(file, tables);
    if ('kind' in found) return found;
    const { meta, trees } = found;
    const pages = meta.lastPage + 1;
    const inUse = [meta.free, meta.main, ...trees.values()].reduce(
      (sum, tree) => sum + pagesOf(tree),
      METAS,
    );
    const known = [...trees].filter(([id]) => id !== FORMAT_TABLE);
    return {
      kind: 'used' as const,
      pageBytes: file.pageBytes,
      pages,
      freePages: pages - inUse,
      tables: new Map(known.map(([id, tree]) => [id, { rows: tree.rows, pages: pagesOf(tree) }])),
    };
  });
}

const pagesOf = ({ branchPages, leafPages, overflowPages }: Tree): number =>
  branchPages + leafPages + overflowPages;

/** Makes the file as long as LMDB expects; changes nothing else. */
export function extendFile(path: string): void {
  const file = new PageFile(path, 'r+');
  const lastPage = Math.max(...file.metas.map((meta) => meta?.lastPage ?? 0));
  file.extendTo(lastPage + 1);
  file.close();
}

type Unreadable = { readonly kind: 'new' } | { readonly kind: 'damaged'; readonly why: string };

async function checked<T>(
  path: string,
  check: (file: PageFile) => Promise<T>,
): Promise<T | Unreadable> {
  if (!existsSync(path) || statSync(path).size === 0) return { kind: 'new' };
  const file = new PageFile(path);
  try {
    return await check(file);
  } catch (cause) {
    if (!(cause instanceof Damage)) throw cause;
    return { kind: 'damaged', why: cause.message };
  } finally {
    file.close();
  }
}

interface Found {
  readonly meta: Meta;
  readonly walk: Walk;
  readonly trees: Map<number, Tree>;
}

function findTables(
  file: PageFile,
  tables: readonly NamedTable[],
): Found | Exclude<FileState, { kind: 'intact' }> {
  const meta = newestOf(file, fault);
  if (meta === undefined) return { kind: 'damaged', why: 'it has no beginning' };
  if (meta.transaction === 0) return { kind: 'new' };
  const walk = new Walk(file, meta, fault);
  const trees = tablesIn(walk, meta, tables, fault);
  return trees.has(FORMAT_TABLE) ? { meta, walk, trees } : { kind: 'old' };
}

async function checkTables(
  { walk, trees }: Found,
  tables: readonly NamedTable[],
  { turnPages, rest }: Pace,
): Promise<void> {
  for (const { id, name } of tables) {
    const tree = trees.get(id);
    if (tree === undefined) continue;
    let turn = walk.pages + turnPages;
    for (const nodes of walk.leaves(tree, name)) {
      for (const node of nodes) {
        if (rowIn(node, id) === undefined) fault(`${name}: a row is not what was written`);
      }
      if (walk.pages < turn) continue;
      turn = walk.pages + turnPages;
      await rest();
    }
  }
}

/** The newer of the two metas. */
function newestOf({ metas }: PageFile, fault: Fault): Meta | undefined {
  const [even, odd] = metas;
  if (even === undefined || odd === undefined) fault('one of its two beginnings is damaged');
  const known = [even, odd].flatMap((meta, slot) => {
    if (meta === undefined) return [];
    // Before the first write both metas have the number 0.
    const isOwn = meta.transaction % 2 === slot || meta.transaction === 0;
    if (!isOwn) fault('the number of its last write is wrong');
    return isOwn ? [meta] : [];
  });
  const [newest, older] = known.sort((a, b) => b.transaction - a.transaction);
  if (newest === undefined || older === undefined) return newest;
  const isNext = newest.transaction === older.transaction + 1 || newest.transaction === 0;
  const isSame =
    newest.version === VERSION &&
    older.version === VERSION &&
    newest.address === 0 &&
    newest.free.flags === older.free.flags &&
    newest.main.flags === 0;
  if (!isNext || !isSame) fault('its two beginnings do not belong together');
  return newest;
}

/** The tree of each table by its number; FORMAT_TABLE for the one that identifies the format. */
function tablesIn(
  walk: Walk,
  meta: Meta,
  tables: readonly NamedTable[],
  fault: Fault,
): Map<number, Tree> {
  const numbers = new Map(tables.map(({ id, name }) => [name, id]));
  numbers.set(FORMAT, FORMAT_TABLE);
  const trees = new Map<number, Tree>();
  for (const nodes of walk.leaves(meta.main, 'the list of tables')) {
    for (const { flags, key, value } of nodes) {
      // Names end with a zero byte.
      const number = numbers.get(Buffer.from(key.subarray(0, -1)).toString('latin1'));
      if (number === undefined || flags !== NODE.tree || value.length !== TREE_BYTES) {
        fault('the list of tables has a wrong entry');
        continue;
      }
      const tree = readTree(viewOf(value), 0);
      if (tree.flags !== 0) fault('a table has unknown properties');
      trees.set(number, tree);
    }
  }
  return trees;
}

const rowIn = ({ flags, key, value }: Node, table: number): Uint8Array | undefined =>
  flags === 0 ? unseal(table, key, value) : undefined;

/** The readable part of a file that was set aside. */
export interface Remains {
  /** The rows of a table in the order of their keys, without the damaged ones. */
  rows(table: number): Iterable<readonly [Uint8Array, Uint8Array]>;
  close(): void;
}

export function openRemains(path: string, tables: readonly NamedTable[]): Remains {
  const file = new PageFile(path);
  const goOn: Fault = () => undefined;
  const meta = newestOf(file, goOn);
  const trees =
    meta === undefined
      ? new Map<number, Tree>()
      : tablesIn(new Walk(file, meta, goOn), meta, tables, goOn);
  const hasSums = trees.has(FORMAT_TABLE);
  return {
    *rows(table) {
      const tree = trees.get(table);
      if (meta === undefined || tree === undefined) return;
      for (const nodes of new Walk(file, meta, goOn).leaves(tree, '')) {
        for (const node of nodes) {
          const value = rowIn(node, table) ?? (hasSums ? undefined : node.value);
          if (value !== undefined) yield [node.key.slice(), value.slice()];
        }
      }
    },
    close: () => file.close(),
  };
}
