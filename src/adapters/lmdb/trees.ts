/**
 * Walks the trees of an LMDB file without LMDB (database-pages.ts).
 *
 * The walk checks everything that LMDB relies on: kind, number and transaction of each page, the
 * positions of its nodes, the order of keys within and between pages, page numbers, and that no
 * page has two uses. It reports each error to `fault`. Where `fault` returns, the walk continues
 * without the page or row, and so gives everything that is still readable. Where `fault` throws,
 * the walk ends.
 */
import {
  HEAD_BYTES,
  KIND,
  METAS,
  type Meta,
  NODE,
  NODE_HEAD_BYTES,
  type PageFile,
  type Tree,
  u64,
} from './database-pages.ts';

export type Fault = (why: string) => void;

/** One row; the bytes are valid until the next step of the walk. */
export interface Node {
  readonly flags: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** The order of keys in LMDB: as bytes, or as numbers in the tree of free pages. */
type Compare = (a: Uint8Array, b: Uint8Array) => number;
const byBytes: Compare = (a, b) => Buffer.compare(a, b);
const byNumber: Compare = (a, b) => u64(viewOf(a), 0) - u64(viewOf(b), 0);

const NUMBER_BYTES = 8;
const OVERFLOW_BYTES = 24;
/** LMDB may leave out free pages at the end of its file, at most as many as one write allocates. */
const FREE_BEHIND_END_MAX = 2 ** 24;
const NO_KEY = new Uint8Array(0);

interface Level {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  page: number;
  /** The number of nodes of the page, and the next node. */
  count: number;
  next: number;
  /** The keys of the page lie between these; undefined: no limit. */
  from: Uint8Array | undefined;
  to: Uint8Array | undefined;
}

export const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export class Walk {
  readonly #file: PageFile;
  readonly #meta: Meta;
  readonly #fault: Fault;
  readonly #used: Uint8Array;
  /** Pages checked so far. */
  pages = 0;

  constructor(file: PageFile, meta: Meta, fault: Fault) {
    this.#file = file;
    this.#meta = meta;
    this.#fault = fault;
    const most = Math.ceil(file.size / file.pageBytes) + FREE_BEHIND_END_MAX;
    if (meta.lastPage > most) fault('the file is cut short');
    this.#used = new Uint8Array((Math.min(meta.lastPage, most) >>> 3) + 1);
  }

  /**
   * Records the use of pages; false, and a fault, where a page is already used or does not exist.
   */
  use(page: number, count: number, by: string): boolean {
    const last = page + count - 1;
    if (!(page >= METAS && last <= this.#meta.lastPage && last < this.#used.length * 8)) {
      this.#fault(`${by} refers to page ${page}, which does not exist`);
      return false;
    }
    for (let number = page; number < page + count; number++) {
      const [at, bit] = [number >>> 3, 1 << (number & 7)];
      if (((this.#used[at] ?? 0) & bit) !== 0) {
        this.#fault(`page ${number} is used by ${by} and by another`);
        return false;
      }
      this.#used[at] = (this.#used[at] ?? 0) | bit;
    }
    return true;
  }

  /** The leaves of a tree from left to right, each as its nodes. */
  *leaves(tree: Tree, name: string, compare: Compare = byBytes): Generator<Iterable<Node>> {
    const counts = { branches: 0, leaves: 0, overflows: 0, rows: 0 };
    const levels: Level[] = [];
    const { root } = tree;
    let level = root === undefined ? undefined : this.#enter(levels, 0, root, tree, name);
    for (let depth = 0; level !== undefined; level = levels[depth]) {
      if (depth + 1 === tree.depth) {
        counts.leaves++;
        if (this.#isOrdered(level, compare, 0, name)) {
          counts.rows += level.count;
          yield this.#nodes(level, name, (pages) => {
            counts.overflows += pages;
          });
        }
        depth--;
      } else if (level.next >= level.count) {
        depth--;
      } else {
        if (level.next === 0) {
          counts.branches++;
          if (!this.#isOrdered(level, compare, 1, name)) level.count = 0;
        }
        if (level.next < level.count && this.#descend(levels, depth, tree, name)) depth++;
      }
      if (depth < 0) break;
    }
    const { branches, leaves, overflows, rows } = counts;
    const isWhole =
      branches === tree.branchPages &&
      leaves === tree.leafPages &&
      overflows === tree.overflowPages &&
      rows === tree.rows;
    if (!isWhole) this.#fault(`${name} does not consist of what is noted about it`);
  }

  #descend(levels: Level[], depth: number, tree: Tree, name: string): boolean {
    const above = levels[depth]!;
    const index = above.next++;
    const at = nodeAt(above, index);
    const child = above.view.getUint32(at, true) + above.view.getUint16(at + 4, true) * 2 ** 32;
    const below = this.#enter(levels, depth + 1, child, tree, name);
    if (below === undefined) return false;
    below.from = index === 0 ? above.from : keyOf(above, index);
    below.to = index + 1 < above.count ? keyOf(above, index + 1) : above.to;
    return true;
  }

  /** Reads a page of a tree into its level; undefined, and a fault, where it is not such a page. */
  #enter(levels: Level[], depth: number, page: number, tree: Tree, name: string) {
    if (!this.use(page, 1, name)) return undefined;
    const level = levels[depth] ?? this.#newLevel();
    levels[depth] = level;
    Object.assign(level, { page, next: 0, count: 0, from: undefined, to: undefined });
    const kind = depth + 1 === tree.depth ? KIND.leaf : KIND.branch;
    if (!this.#readPage(page, level.bytes, kind, name)) return undefined;
    const why = this.#misplaced(level, kind);
    if (why === undefined) return level;
    this.#fault(`${name}: page ${page}: ${why}`);
    return undefined;
  }

  #newLevel(): Level {
    const bytes = new Uint8Array(this.#file.pageBytes);
    const view = new DataView(bytes.buffer);
    return { bytes, view, page: 0, count: 0, next: 0, from: undefined, to: undefined };
  }

  #readPage(page: number, into: Uint8Array, kind: number, name: string): boolean {
    this.pages++;
    if (!this.#file.read(page, into)) {
      this.#fault(`${name}: page ${page} lies behind the end of the file`);
      return false;
    }
    const view = viewOf(into);
    const isRight =
      u64(view, 0) === page &&
      u64(view, 8) <= this.#meta.transaction &&
      view.getUint16(18, true) === kind;
    if (!isRight) this.#fault(`${name}: page ${page} is not what it should be`);
    return isRight;
  }

  /** Counts the nodes; returns why they cannot be where the page says. */
  #misplaced(level: Level, kind: number): string | undefined {
    const { view } = level;
    const end = this.#file.pageBytes - HEAD_BYTES;
    const [lower, upper] = [view.getUint16(20, true), view.getUint16(22, true)];
    if (lower === 0 || lower % 2 !== 0 || lower > upper || upper > end) return 'wrong bounds';
    const count = lower / 2;
    let first = end;
    let taken = 0;
    for (let i = 0; i < count; i++) {
      const offset = view.getUint16(HEAD_BYTES + 2 * i, true);
      if (offset < upper || offset + NODE_HEAD_BYTES > end) return `node ${i} lies outside`;
      const at = HEAD_BYTES + offset;
      const size = NODE_HEAD_BYTES + view.getUint16(at + 6, true) + valueBytes(view, at, kind);
      if (offset + size > end) return `node ${i} reaches outside`;
      if (offset < first) first = offset;
      taken += size + (size & 1);
    }
    if (first !== upper || taken !== end - upper) return 'nodes do not fill their place';
    level.count = count;
    return undefined;
  }

  /** True where keys ascend within the page and lie between those of the page above. */
  #isOrdered(level: Level, compare: Compare, start: number, name: string): boolean {
    let before = level.from;
    for (let i = start; i < level.count; i++) {
      const key = keyOf(level, i);
      const order = before === undefined ? -1 : compare(before, key);
      // The key of the page above may also be the first key of this page.
      if (order > 0 || (order === 0 && i > 0)) {
        this.#fault(`${name}: keys of page ${level.page} are not in order`);
        return false;
      }
      before = key;
    }
    if (level.to === undefined || before === undefined || compare(before, level.to) < 0)
      return true;
    this.#fault(`${name}: keys of page ${level.page} belong elsewhere`);
    return false;
  }

  *#nodes(level: Level, name: string, overflow: (pages: number) => void): Generator<Node> {
    const { view, bytes } = level;
    for (let i = 0; i < level.count; i++) {
      const at = nodeAt(level, i);
      const flags = view.getUint16(at + 4, true);
      const key = keyOf(level, i);
      const size = view.getUint32(at, true);
      const start = at + NODE_HEAD_BYTES + key.length;
      if (flags === NODE.overflow) {
        const value = this.#overflow(view, start, size, name, overflow);
        if (value !== undefined) yield { flags: 0, key, value };
      } else {
        yield { flags, key, value: bytes.subarray(start, start + size) };
      }
    }
  }

  #overflow(
    node: DataView,
    at: number,
    size: number,
    name: string,
    count: (pages: number) => void,
  ): Uint8Array | undefined {
    const page = u64(node, at);
    const pages = Math.ceil((HEAD_BYTES + size) / this.#file.pageBytes);
    if (u64(node, at + 16) !== pages) {
      this.#fault(`${name}: a long row does not fill its pages`);
      return undefined;
    }
    if (!this.use(page, pages, name)) return undefined;
    count(pages);
    const bytes = new Uint8Array(HEAD_BYTES + size);
    if (!this.#readPage(page, bytes, KIND.overflow, name)) return undefined;
    if (viewOf(bytes).getUint32(20, true) !== pages) {
      this.#fault(`${name}: page ${page} does not begin ${pages} pages`);
      return undefined;
    }
    return bytes.subarray(HEAD_BYTES);
  }

  /** Checks the list of free pages, and that the pages after the end of the file are free. */
  checkFree(): void {
    const name = 'the list of free pages';
    for (const nodes of this.leaves(this.#meta.free, name, byNumber)) {
      for (const { flags, key, value } of nodes) {
        const view = viewOf(value);
        const room = value.length / NUMBER_BYTES - 1;
        const count = room < 0 ? -1 : u64(view, 0);
        if (flags !== 0 || key.length !== NUMBER_BYTES || !(count >= 0 && count <= room)) {
          this.#fault(`${name} has a wrong entry`);
          continue;
        }
        for (let i = 1; i <= count; i++) {
          // A negative number is the count of pages that begin with the page after it; zero is
          // invalid.
          const number = view.getBigInt64(i * NUMBER_BYTES, true);
          if (number === 0n) continue;
          const isBlock = number < 0n && i < count;
          const pages = isBlock ? Number(-number) : 1;
          const page = isBlock ? u64(view, ++i * NUMBER_BYTES) : Number(number);
          this.use(page, pages, name);
        }
      }
    }
    const end = Math.floor(this.#file.size / this.#file.pageBytes);
    for (let page = end; page <= this.#meta.lastPage; page++) {
      if (this.#isUsed(page)) continue;
      this.#fault('the file is cut short');
      return;
    }
  }

  #isUsed(page: number): boolean {
    return ((this.#used[page >>> 3] ?? 0) & (1 << (page & 7))) !== 0;
  }
}

const nodeAt = (level: Level, index: number): number =>
  HEAD_BYTES + level.view.getUint16(HEAD_BYTES + 2 * index, true);

function keyOf(level: Level, index: number): Uint8Array {
  const at = nodeAt(level, index);
  const start = at + NODE_HEAD_BYTES;
  const length = level.view.getUint16(at + 6, true);
  return length === 0 ? NO_KEY : level.bytes.subarray(start, start + length);
}

/** The number of bytes of a node after its key. */
function valueBytes(view: DataView, at: number, kind: number): number {
  if (kind === KIND.branch) return 0;
  return view.getUint16(at + 4, true) === NODE.overflow ? OVERFLOW_BYTES : view.getUint32(at, true);
}
