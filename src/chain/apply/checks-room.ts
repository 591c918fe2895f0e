/**
 * Room in the verifier for the signatures of blocks. Checks that find none wait for those before
 * them, so a long branch, whoever sent it, does not make the verifier refuse any.
 *
 * Invariants: checks begin in the order in which they came; those of one block begin in any case when
 * no others run; each wait ends, since what runs gets its verdicts or fails, when the verifier is
 * closed, too.
 */
import type { CheckLoad } from '../../tx/proof-verdicts.ts';

export interface RoomLimits {
  /**
   * The number of signatures that are being checked, and the bytes of their messages. Together with
   * one block of the default size, they are less than a verifier has room for.
   */
  readonly checksAhead: number;
  readonly messageBytesAhead: number;
}

export const roomLimits: RoomLimits = {
  checksAhead: 20_000,
  messageBytesAhead: 128 * 1024 * 1024,
};

export const NO_LOAD: CheckLoad = { checks: 0, messageBytes: 0 };

export const plus = (load: CheckLoad, other: CheckLoad, sign: 1 | -1): CheckLoad => ({
  checks: load.checks + sign * other.checks,
  messageBytes: load.messageBytes + sign * other.messageBytes,
});

export const isTooMuch = ({ checks, messageBytes }: CheckLoad, limits: RoomLimits): boolean =>
  checks > limits.checksAhead || messageBytes > limits.messageBytesAhead;

export class ChecksRoom {
  private readonly limits: RoomLimits;
  /** The load of the checks that have no verdict. */
  private load: CheckLoad = NO_LOAD;
  private running = 0;
  private readonly waiting: { readonly load: CheckLoad; readonly begin: () => void }[] = [];

  constructor(limits: RoomLimits = roomLimits) {
    this.limits = limits;
  }

  /** Resolves when checks of this load may be asked for; `leave` is to follow. */
  enter(load: CheckLoad): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push({ load, begin: resolve });
      this.beginNext();
    });
  }

  /** The checks have their verdicts, or have failed. */
  leave(load: CheckLoad): void {
    this.running -= 1;
    this.load = plus(this.load, load, -1);
    this.beginNext();
  }

  private beginNext(): void {
    for (let next = this.waiting[0]; next !== undefined; next = this.waiting[0]) {
      const load = plus(this.load, next.load, 1);
      if (this.running > 0 && isTooMuch(load, this.limits)) return;
      this.waiting.shift();
      this.running += 1;
      this.load = load;
      next.begin();
    }
  }
}
