/** Work under one name runs one after the other; work under different names does not wait. */
export class InTurn {
  private readonly last = new Map<string, Promise<unknown>>();

  /** Runs `action` after all earlier work of this name, even where that failed. */
  async run<T>(name: string, action: () => Promise<T>): Promise<T> {
    const mine = (this.last.get(name) ?? Promise.resolve()).then(action, action);
    this.last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (this.last.get(name) === mine) this.last.delete(name);
    }
  }
}
