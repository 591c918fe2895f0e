/**
 * Whom a node asks for a block that votes speak for and its chain lacks (finality.md#fork-choice).
 *
 * Invariants: a peer is asked again only after a pause, which doubles up to `PAUSE_MS_MAX`; where some peers
 *Y */
import { latin1 } from '../base/bytes.ts';
import type { Clock } from '../base/ports.ts';
import { BoundedCache } from '../concurrency/bounded-cache.ts';

export const PAUSE_MS_MIN = 2_000;
export const PAUSE_MS_MAX = 64_000;
const PAUSES_MAX = 1_000;

/** Blocks that are justified, or may be, and are not in the own chain. */
export interface Sought {
  /** Height of the highest of them. */
  readonly height: number;
  /** Texts of their header hashes. */
  readonly ids: readonly string[];
}

interface Asked {
  readonly owner: Uint8Array;
}

export interface SearchPorts<Peer extends Asked> {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly sought: () => Sought | undefined;
  /** Whether the peer has told of a vote for one of these. */
  readonly hasTold: (peer: Peer, ids: readonly string[]) => boolean;
  readonly peers: () => readonly Peer[];
}

interface Pause {
  readonly ms: number;
  readonly until: number;
}

export class JustifiedSearch<Peer extends Asked> {
  private readonly ports: SearchPorts<Peer>;
  private readonly pauses = new BoundedCache<string, Pause>(PAUSES_MAX);
  /** Of the highest block that was ever sought. */
  private height = 0;

  constructor(ports: SearchPorts<Peer>) {
    this.ports = ports;
  }

  /** Whether the peer is to be asked now. */
  asks(peer: Peer): boolean {
    const { clock, peers, hasTold } = this.ports;
    const sought = this.sought();
    if (sought === undefined) return false;
    const pause = this.pauses.get(latin1(peer.owner));
    if (pause !== undefined && clock.monotonic() < pause.until) return false;
    const { ids } = sought;
    return hasTold(peer, ids) || !peers().some((other) => hasTold(other, ids));
  }

  /** The peer is asked for its chain, for whatever reason. */
  asked({ owner }: Peer): void {
    if (this.sought() === undefined) return;
    const name = latin1(owner);
    const before = this.pauses.get(name);
    const ms = before === undefined ? PAUSE_MS_MIN : Math.min(PAUSE_MS_MAX, 2 * before.ms);
    this.pauses.set(name, { ms, until: this.ports.clock.monotonic() + ms });
  }

  private sought(): Sought | undefined {
    const sought = this.ports.sought();
    if (sought !== undefined && sought.height > this.height) {
      this.pauses.clear();
      this.height = sought.height;
    }
    return sought;
  }
}
