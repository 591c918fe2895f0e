/**
 * Breadth-first search of all states of a model. So a counterexample is a shortest one. A state is a
 * few 32-bit words; states that differ by a renaming of equal voters have the same words.
 */

export interface Model<S> {
  readonly start: S;
  /** Words of a packed state. */
  readonly words: number;
  /** Writes the state in a form that is the same for all states that are equal but for names. */
  pack(state: S, into: Uint32Array): void;
  unpack(words: Uint32Array): S;
  /** Everything that can happen next; `say` tells it in words. */
  steps(state: S, take: (next: S, say: () => string) => void): void;
  /** What is wrong with a state that is reached, or undefined. */
  problem(state: S): string | undefined;
}

export interface Findings {
  readonly states: number;
  readonly problem: string | undefined;
  /** What happens until then, a step a line. */
  readonly schedule: readonly string[];
}

/** Throws where there are more than `maxStates` states: a search that stopped early shows nothing. */
export function search<S>(model: Model<S>, maxStates = 10_000_000): Findings {
  const found = new States(model.words);
  const packed = new Uint32Array(model.words);
  model.pack(model.start, packed);
  found.add(packed, -1);
  for (let at = 0; at < found.count; at++) {
    const state = model.unpack(found.get(at));
    const problem = model.problem(state);
    if (problem !== undefined) {
      return { states: found.count, problem, schedule: retell(model, found, at) };
    }
    model.steps(state, (next) => {
      model.pack(next, packed);
      found.add(packed, at);
    });
    if (found.count > maxStates) throw new Error(`more than ${maxStates} states`);
  }
  return { states: found.count, problem: undefined, schedule: [] };
}

/** Walks from the start again, so that a voter keeps its name where packing renames it. */
function retell<S>(model: Model<S>, found: States, end: number): string[] {
  const path: number[] = [];
  for (let at = end; at > 0; at = found.parent(at)) path.unshift(at);
  const packed = new Uint32Array(model.words);
  let state = model.start;
  return path.map((at) => {
    const goal = found.get(at);
    let line: string | undefined;
    model.steps(state, (next, say) => {
      if (line !== undefined) return;
      model.pack(next, packed);
      if (!packed.every((word, i) => word === goal[i])) return;
      line = say();
      state = next;
    });
    return line!;
  });
}

/** A set of packed states in the order of their discovery: words in one array, places in another. */
class States {
  count = 0;
  private readonly width: number;
  private words: Uint32Array;
  private parents = new Int32Array(1024);
  /** Place of a state plus one, by hash; at most half full. */
  private places = new Int32Array(4096);

  constructor(width: number) {
    this.width = width;
    this.words = new Uint32Array(1024 * width);
  }

  get(at: number): Uint32Array {
    return this.words.subarray(at * this.width, (at + 1) * this.width);
  }

  parent(at: number): number {
    return this.parents[at]!;
  }

  add(state: Uint32Array, parent: number): void {
    const slot = this.slotOf(state);
    if (this.places[slot] !== 0) return;
    if (this.count === this.parents.length) this.grow();
    this.words.set(state, this.count * this.width);
    this.parents[this.count] = parent;
    this.places[slot] = ++this.count;
    if (this.count * 2 > this.places.length) this.spread();
  }

  private slotOf(state: Uint32Array): number {
    const mask = this.places.length - 1;
    let hash = 0x811c9dc5;
    for (const word of state) {
      hash = Math.imul(hash ^ word, 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const place = this.places[slot]!;
      if (place === 0 || this.isAt(place - 1, state)) return slot;
    }
  }

  private isAt(at: number, state: Uint32Array): boolean {
    const start = at * this.width;
    for (let i = 0; i < this.width; i++) if (this.words[start + i] !== state[i]) return false;
    return true;
  }

  private grow(): void {
    const { words, parents } = this;
    this.words = new Uint32Array(words.length * 2);
    this.words.set(words);
    this.parents = new Int32Array(parents.length * 2);
    this.parents.set(parents);
  }

  private spread(): void {
    this.places = new Int32Array(this.places.length * 2);
    for (let at = 0; at < this.count; at++) this.places[this.slotOf(this.get(at))] = at + 1;
  }
}
