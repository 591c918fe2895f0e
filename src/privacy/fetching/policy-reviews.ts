/**
 * The policies that this node has joined or left, and whose items have not all been listed since.
 *
 * Invariant: a policy is among them from the block that changes it until a walk through all of its
 * items has ended. One walk runs at a time, so that the later change of a policy has the last word.
 */
import { isOurs } from '../../base/assert.ts';
import { fromLatin1, latin1 } from '../../base/bytes.ts';
import type { Log } from '../../base/ports/log.ts';

export interface PolicyReviewsDeps {
  readonly log: Log;
  /** False where the walk was cut short. */
  readonly review: (policyId: Uint8Array) => Promise<boolean>;
  /** Called when no policy is left. */
  readonly onDone: () => void;
}

export class PolicyReviews {
  private readonly deps: PolicyReviewsDeps;
  private readonly left = new Set<string>();
  private running: Promise<void> | undefined;

  constructor(deps: PolicyReviewsDeps) {
    this.deps = deps;
  }

  get isDone(): boolean {
    return this.left.size === 0 && this.running === undefined;
  }

  add(policyId: Uint8Array): void {
    this.left.add(latin1(policyId));
  }

  /** Goes on with what is left. Resolves when nothing is, or when a walk fails or is cut short. */
  run(): Promise<void> {
    if (this.left.size === 0) return this.running ?? Promise.resolve();
    this.running ??= this.all();
    return this.running;
  }

  /** Resolves when no walk is under way. */
  async idle(): Promise<void> {
    await this.running;
  }

  private async all(): Promise<void> {
    let goesOn = true;
    while (goesOn) {
      const [key] = this.left;
      if (key === undefined) break;
      this.left.delete(key);
      goesOn = await this.deps.review(fromLatin1(key)).catch((cause) => this.failed(cause));
      // It is tried again with the next block, or after the next start.
      if (!goesOn) this.left.add(key);
    }
    this.running = undefined;
    if (this.left.size === 0) this.deps.onDone();
  }

  private failed(cause: unknown): false {
    if (isOurs(cause)) throw cause;
    this.deps.log.error('privacy.follow-failed', { why: String(cause) });
    return false;
  }
}
