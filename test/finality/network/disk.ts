/** The disk of a node: it survives the node, takes its time, and fails at times. */
import type { Dice } from '../../system/sim/random.ts';
import type { NodeClock } from '../../system/sim/world.ts';
import type { ToyBlock } from './toy-chain.ts';

export interface Content {
  note: Uint8Array | undefined;
  proof: Uint8Array | undefined;
  /** The last block of the chain. */
  head: ToyBlock;
}

export class Crashed extends Error {}

interface Pending {
  readonly apply: () => void;
}

const WRITE_MS_MAX = 30;

export class Disk {
  readonly content: Content;
  /** Share of the writes that fail. */
  failures = 0;
  private readonly dice: Dice;
  private readonly clock: NodeClock;
  private readonly pending = new Set<Pending>();

  constructor(content: Content, clock: NodeClock, dice: Dice) {
    this.content = content;
    this.clock = clock;
    this.dice = dice;
  }

  /** Resolves once it is written; of a dead node it never does. What fails may be written or not. */
  write(apply: () => void): Promise<void> {
    const one = { apply };
    this.pending.add(one);
    return new Promise((resolve, reject) => {
      this.clock.after(this.dice.below(WRITE_MS_MAX), () => {
        this.pending.delete(one);
        const isFailing = this.dice.happens(this.failures);
        if (!isFailing || this.dice.happens(0.5)) apply();
        if (isFailing) reject(new Error('the disk is full'));
        else resolve();
      });
    });
  }

  /** What was under way is written or not. */
  crash(): void {
    for (const { apply } of this.pending) if (this.dice.happens(0.5)) apply();
    this.pending.clear();
  }
}
