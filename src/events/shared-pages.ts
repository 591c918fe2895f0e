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

/** As many as there are filters: most pages hold a few events. */
const PAGES_MAX = 4096;
const CHARS_MAX = 8 * 1024 * 1024;

export class SharedPages<Place> {
  private readonly pages = new Map<string, Kept<Place>>();
  private chars = 0;

  /** `isWhole`: false for one to which more may come, which is read anew. */
  get(
    key: string,
    read: () => Reading<Place>,
    isWhole: (page: Page<Place>) => boolean,
  ): Reading<Place> {
    const known = this.pages.get(key);
    if (known !== undefined) return known.page;
    const page = read();
    const kept = { page, chars: key.length };
    this.pages.set(key, kept);
    this.chars += kept.chars;
    this.trim();
    page.then(
      (found) => {
        if (this.pages.get(key) !== kept) return;
        if (found === undefined || !isWhole(found)) this.delete(key);
        else this.grow(kept, found.text.length);
      },
      () => this.pages.get(key) === kept && this.delete(key),
    );
    return page;
  }

  clear(): void {
    this.pages.clear();
    this.chars = 0;
  }

  private grow(kept: Kept<Place>, chars: number): void {
    kept.chars += chars;
    this.chars += chars;
    this.trim();
  }

  private trim(): void {
    for (const key of this.pages.keys()) {
      if (this.pages.size <= PAGES_MAX && this.chars <= CHARS_MAX) return;
      this.delete(key);
    }
  }

  private delete(key: string): void {
    this.chars -= this.pages.get(key)?.chars ?? 0;
    this.pages.delete(key);
  }
}
