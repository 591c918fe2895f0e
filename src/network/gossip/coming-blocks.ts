/**
 * How far a block has come that would take the place of the head, for a miner that may wait for it
 * (consensus.md#making-a-block-under-proof-of-authority).
 *
 * Invariant: an announced block counts only while a peer has announced it that has not kept back the
 * rest of another a short time ago. A header is signed together with its transactions, so anybody can
 * make up one.
 */
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports.ts';
import type { Header } from '../../block/header.ts';
import { ExpiringSet } from '../../concurrency/bounded-cache.ts';
import type { Session } from '../sessions/session.ts';
import type { Arrival, Stage } from './arrivals.ts';

type Source = Pick<Session, 'owner'>;

const KEPT_BACK_MS = 5 * 60_000;
const PEERS_MAX = 1_000;

export class ComingBlocks {
  /** Owners of peers that have announced a block which they did not hand over. */
  private readonly keepingBack: ExpiringSet;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.keepingBack = new ExpiringSet(PEERS_MAX, KEPT_BACK_MS, clock);
  }

  /** None of these has handed over the block that they have announced. */
  keptBack(sources: readonly Source[]): void {
    for (const { owner } of sources) this.keepingBack.add(latin1(owner));
  }

  /** That of the block that has come furthest of those that would take the place of the head. */
  stage(
    arrivals: Iterable<Pick<Arrival<Source>, 'compact' | 'sources' | 'stage'>>,
    isReplacing: (header: Header) => boolean,
  ): Stage | undefined {
    let furthest: Stage | undefined;
    for (const { compact, sources, stage } of arrivals) {
      if (stage === undefined || !isReplacing(compact.header)) continue;
      if (stage === 'complete') return stage;
      if (sources.some((one) => this.isTrusted(one))) furthest = stage;
    }
    return furthest;
  }

  private isTrusted({ owner }: Source): boolean {
    return !this.keepingBack.has(latin1(owner));
  }
}
