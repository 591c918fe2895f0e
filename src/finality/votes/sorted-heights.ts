/** Heights in ascending order, each once. They mostly come in this order, and leave from below. */
export class SortedHeights {
  private readonly heights: number[] = [];

  add(height: number): void {
    const at = this.placeOf(height);
    if (this.heights[at] !== height) this.heights.splice(at, 0, height);
  }

  delete(height: number): void {
    const at = this.placeOf(height);
    if (this.heights[at] === height) this.heights.splice(at, 1);
  }

  lowest(): number | undefined {
    return this.heights[0];
  }

  /** The next ones below and above a height. */
  around(height: number): number[] {
    const at = this.placeOf(height);
    const above = this.heights[at] === height ? at + 1 : at;
    return [this.heights[at - 1], this.heights[above]].filter((one) => one !== undefined);
  }

  *descending(): Iterable<number> {
    for (let i = this.heights.length - 1; i >= 0; i--) yield this.heights[i]!;
  }

  /** The place of the first height that is not below this one. */
  private placeOf(height: number): number {
    let low = 0;
    let high = this.heights.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.heights[middle]! < height) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
