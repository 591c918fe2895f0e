/**
 * How far a block has come that would take the place of the head, for a miner that may wait for it
 * (consensus.md#making-a-block-under-proof-of-authority).
 *
 * Invariant: an announced block counts only while a peer has announced it that has not kept back the
 * rest of another a while ago. A header below version 100 is signed together with its transactions, so
 * anybody can make up one. Each wait for nothing doubles the time until the next one for that peer.
 */
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Header } from '../../block/header.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import type { Session } from '../sessions/session.ts';
import type { Arrival, Stage } from './arrivals.ts';

type Source = Pick<Session, 'owner'>;

const KEPT_BACK_MS = 5 * 60_000;
const KEPT_BACK_MS_MAX = 24 * 60 * 60_000;
const PEERS_MAX = 1_000;

export class ComingBlocks {
  private readonly clock: Pick<Clock, 'monotonic'>;
  /** By owner of peers that have announced a block which they did not hand over. */
  private readonly keepingBack = new BoundedCache<string, KeptBack>(PEERS_MAX);

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.clock = clock;
  }

  /** None of these has handed over the block that they have announced. */
  keptBack(sources: readonly Source[]): void {
    const now = this.clock.monotonic();
    for (const source of sources) {
      // Nobody has waited for it again.
      if (!this.isTrusted(source)) continue;
      const owner = latin1(source.owner);
      const before = this.keepingBack.get(owner);
      const isForgotten = before === undefined || now >= before.until + KEPT_BACK_MS_MAX;
      const ms = isForgotten ? KEPT_BACK_MS : Math.min(2 * before.ms, KEPT_BACK_MS_MAX);
      this.keepingBack.set(owner, { ms, until: now + ms });
    }
  }

  /** The stage of the block that has come furthest, among those that would take the place of the head. */
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
    const { until } = this.keepingBack.get(latin1(owner)) ?? TRUSTED;
    return this.clock.monotonic() >= until;
  }
}

interface KeptBack {
  /** How long it is not trusted. */
  readonly ms: number;
  /** Until this time. */
  readonly until: number;
}

const TRUSTED = { until: Number.NEGATIVE_INFINITY };
