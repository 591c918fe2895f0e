/**
 * The pages of an LMDB file (data version 2, little-endian, 64 bits), read without LMDB. LMDB maps
 * its file and trusts every pointer in it, so a damaged pointer would end the process.
 *
 *   page    number u64, transaction u64, unused u16, kind u16, then
 *           tree pages: end of the pointers u16, begin of the nodes u16, pointers u16 …, nodes;
 *           overflow: count of pages u32, data
 *   node    size of the value or number of the child u32, flags or its high part u16, key size u16,
 *           key, value
 *   tree    unused u32, flags u16, depth u16, branch pages u64, leaf pages u64, overflow pages u64,
 *           rows u64, root u64
 *   meta    magic u32, version u32, address u64, map size u64, tree of free pages, tree of tables,
 *           last page u64, transaction u64
 *
 * Pages 0 and 1 are the two metas; transaction n writes meta n mod 2. Offsets in a page count from
 * the end of its head.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';

export const HEAD_BYTES = 24;
export const NODE_HEAD_BYTES = 8;
export const TREE_BYTES = 48;
export const KIND = { branch: 1, leaf: 2, overflow: 4, meta: 8 } as const;
export const NODE = { overflow: 1, tree: 2 } as const;
export const METAS = 2;

const MAGIC = 0xbeefc0de;
const META_BYTES = 160;
const AT = {
  magic: 24,
  version: 28,
  address: 32,
  map: 40,
  free: 48,
  main: 96,
  last: 144,
  txn: 152,
};
const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 65_536;
/** More than any machine maps. */
const MAP_BYTES_MAX = 2 ** 46;

/** A B+ tree: its root and the counts of its parts. */
export interface Tree {
  readonly flags: number;
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly rows: number;
  /** Undefined where the tree is empty. */
  readonly root: number | undefined;
}

export interface Meta {
  readonly version: number;
  readonly pageBytes: number;
  readonly address: number;
  readonly mapBytes: number;
  readonly free: Tree;
  readonly main: Tree;
  readonly lastPage: number;
  readonly transaction: number;
}

export class PageFile {
  /** In the order of their pages; undefined where a meta cannot be read. */
  readonly metas: readonly (Meta | undefined)[];
  readonly pageBytes: number;
  readonly size: number;
  readonly #descriptor: number;
  #isOpen = true;

  constructor(path: string, mode: 'r' | 'r+' = 'r') {
    this.#descriptor = openSync(path, mode);
    this.size = fstatSync(this.#descriptor).size;
    const first = this.#metaAt(0, 0);
    // Where the first meta is unreadable, the second is searched at the possible page sizes.
    const second =
      first === undefined ? this.#findSecond() : this.#metaAt(first.pageBytes, first.pageBytes);
    this.pageBytes = first?.pageBytes ?? second?.pageBytes ?? 0;
    this.metas = [first, second];
  }

  #findSecond(): Meta | undefined {
    for (let bytes = PAGE_BYTES_MIN; bytes <= PAGE_BYTES_MAX; bytes *= 2) {
      const meta = this.#metaAt(bytes, bytes);
      if (meta !== undefined) return meta;
    }
    return undefined;
  }

  #metaAt(at: number, pageBytes: number): Meta | undefined {
    const bytes = new Uint8Array(META_BYTES);
    if (readSync(this.#descriptor, bytes, 0, META_BYTES, at) < META_BYTES) return undefined;
    const view = new DataView(bytes.buffer);
    if (view.getUint32(AT.magic, true) !== MAGIC) return undefined;
    if (view.getUint16(18, true) !== KIND.meta) return undefined;
    const meta: Meta = {
      version: view.getUint32(AT.version, true),
      pageBytes: view.getUint32(AT.free, true),
      address: u64(view, AT.address),
      mapBytes: u64(view, AT.map),
      free: readTree(view, AT.free),
      main: readTree(view, AT.main),
      lastPage: u64(view, AT.last),
      transaction: u64(view, AT.txn),
    };
    if (!isPageSize(meta.pageBytes) || (at > 0 && meta.pageBytes !== pageBytes)) return undefined;
    if (u64(view, 0) !== (at === 0 ? 0 : 1)) return undefined;
    return meta.mapBytes <= MAP_BYTES_MAX ? meta : undefined;
  }

  /** Fills `into` from the start of a page; false where the file ends before. */
  read(page: number, into: Uint8Array): boolean {
    const at = page * this.pageBytes;
    if (at + into.length > this.size) return false;
    return readSync(this.#descriptor, into, 0, into.length, at) === into.length;
  }

  /**
   * LMDB may leave out free pages at the end of the file, but relies on their presence when it maps
   * the file.
   */
  extendTo(pages: number): void {
    const bytes = pages * this.pageBytes;
    if (bytes > this.size) ftruncateSync(this.#descriptor, bytes);
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
  }
}

const isPageSize = (bytes: number): boolean =>
  bytes >= PAGE_BYTES_MIN && bytes <= PAGE_BYTES_MAX && (bytes & (bytes - 1)) === 0;

export function readTree(view: DataView, at: number): Tree {
  const root = u64(view, at + 40);
  return {
    flags: view.getUint16(at + 4, true),
    depth: view.getUint16(at + 6, true),
    branchPages: u64(view, at + 8),
    leafPages: u64(view, at + 16),
    overflowPages: u64(view, at + 24),
    rows: u64(view, at + 32),
    root: root === NO_PAGE ? undefined : root,
  };
}

const NO_PAGE = 2 ** 64;

/** Exact up to 2^53; every correct number is below that. */
export const u64 = (view: DataView, at: number): number =>
  view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
