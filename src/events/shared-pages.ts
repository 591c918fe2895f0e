/**
 * Pages of events that several readers want at about the same time, by the place and the filter of the
 * reader. What is kept is limited, and the oldest pages go first.
 */

export interface Page<Place> {
  readonly text: string;
  /** Behind its last event. */
  readonly place: Place;
}

type Reading<Place> = Promise<Page<Place> | undefined>;

interface Kept<Place> {
  readonly page: Reading<Place>;
  chars: number;
}

/** What a generation holds: as many as there are filters, since most pages have a few events. */
const PAGES_MAX = 4096;
const CHARS_MAX = 16 * 1024 * 1024;

/**
 * Two generations instead of an exact order, as in concurrency/bounded-cache.ts: finding the oldest of
 * a single Map means walking past all that were deleted before it.
 */
export class SharedPages<Place> {
  private young = new Map<string, Kept<Place>>();
  private old = new Map<string, Kept<Place>>();
  /** Of the young ones. */
  private chars = 0;

  /** `isWhole`: false for one to which more may come, which is read anew. */
  get(
    key: string,
    read: () => Reading<Place>,
    isWhole: (page: Page<Place>) => boolean,
  ): Reading<Place> {
    const known = this.young.get(key) ?? this.old.get(key);
    if (known !== undefined) return known.page;
    const page = read();
    const kept = { page, chars: key.length };
    this.makeRoom();
    this.young.set(key, kept);
    this.chars += kept.chars;
    page.then(
      (found) => {
        if (found === undefined || !isWhole(found)) this.delete(key, kept);
        else this.grow(key, kept, found.text.length);
      },
      () => this.delete(key, kept),
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

  private grow(key: string, kept: Kept<Place>, chars: number): void {
    kept.chars += chars;
    if (this.young.get(key) === kept) this.chars += chars;
  }

  private delete(key: string, kept: Kept<Place>): void {
    if (this.young.get(key) === kept) {
      this.young.delete(key);
      this.chars -= kept.chars;
    } else if (this.old.get(key) === kept) this.old.delete(key);
  }
}
