/**
 * Pages of events that several readers want at about the same time, by the place and the filter of the
 * reader. What is kept is limited, and the oldest pages go first.
 */
import type { Span } from './byte-ring.ts';

export interface Page<Place> {
  /** The bytes themselves where they are too many to be kept. */
  readonly bytes: Span | Uint8Array;
  /** Behind its last event. */
  readonly place: Place;
}

type Reading<Place> = Promise<Page<Place> | undefined>;

interface Known<Place> {
  readonly page: Reading<Place>;
  /** Undefined until it has been read. */
  found: Page<Place> | undefined;
}

/** What a generation holds: as many as there are filters, since most pages have a few events. */
const PAGES_MAX = 4096;
/** Of the keys. */
const CHARS_MAX = 16 * 1024 * 1024;

/**
 * Two generations instead of an exact order, as in concurrency/bounded-cache.ts: finding the oldest of
 * a single Map means walking past all that were deleted before it.
 */
export class SharedPages<Place> {
  private readonly isKept: (page: Page<Place>) => boolean;
  private young = new Map<string, Known<Place>>();
  private old = new Map<string, Known<Place>>();
  /** Of the young ones. */
  private chars = 0;

  /** `isKept`: false where the bytes of the page are gone. */
  constructor(isKept: (page: Page<Place>) => boolean) {
    this.isKept = isKept;
  }

  /** `isWhole`: false for one to which more may come, which is read anew. */
  get(
    key: string,
    read: () => Reading<Place>,
    isWhole: (page: Page<Place>) => boolean,
  ): Reading<Place> {
    const known = this.young.get(key) ?? this.old.get(key);
    const isThere = known !== undefined && (known.found === undefined || this.isKept(known.found));
    if (isThere) return known.page;
    if (known !== undefined) this.delete(key, known);
    const page = read();
    const added: Known<Place> = { page, found: undefined };
    this.makeRoom();
    this.young.set(key, added);
    this.chars += key.length;
    page.then(
      (found) => {
        added.found = found;
        if (found === undefined || !isWhole(found)) this.delete(key, added);
      },
      () => this.delete(key, added),
    );
    return page;
  }

  clear(): void {
    this.young = new Map();
    this.old = new Map();
    this.chars = 0;
  }

  private makeRoom(): void {
    if (this.young.size < PAGES_MAX && this.chars < CHARS_MAX) return;
    this.old = this.young;
    this.young = new Map();
    this.chars = 0;
  }

  private delete(key: string, known: Known<Place>): void {
    if (this.young.get(key) === known) {
      this.young.delete(key);
      this.chars -= key.length;
    } else if (this.old.get(key) === known) this.old.delete(key);
  }
}
