/** How many places, bytes or jobs each name has. A name that has none is not kept. */
export class Counts<Name> {
  private readonly counts = new Map<Name, number>();

  of(name: Name): number {
    return this.counts.get(name) ?? 0;
  }

  /** `change` may be negative. */
  add(name: Name, change: number): void {
    const now = this.of(name) + change;
    if (now === 0) this.counts.delete(name);
    else this.counts.set(name, now);
  }
}
