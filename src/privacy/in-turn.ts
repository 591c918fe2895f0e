/**
 * Runs actions with the same name one after the other; actions with different names do not wait.
 */
export class InTurn {
  private readonly last = new Map<string, Promise<unknown>>();

  /** Runs `action` after all earlier actions of this name, even where those failed. */
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
