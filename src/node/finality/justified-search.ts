/**
 * Whom a node asks for a block that votes speak for and its chain lacks (finality.md#fork-choice).
 *
 * Invariants: a peer is asked again only after a pause, which doubles up to `PAUSE_MS_MAX`; where some peers
 * have told of the votes, no other is asked.
 */
import { equal, latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { mayBeQuorum, type VotesOfChain } from '../../chain/finality/branch-lead.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import { ancestorAt, type TrackedBlock } from '../../finality/tracked-block.ts';
import { checkpointKey } from '../../finality/votes/vote.ts';

export const PAUSE_MS_MIN = 2_000;
export const PAUSE_MS_MAX = 64_000;
const PAUSES_MAX = 1_000;

/** Blocks that are justified, or may be, and are not in the own chain. */
export interface Sought {
  /** Height of the highest of them. */
  readonly height: number;
  /** Their `checkpointKey`s. */
  readonly keys: readonly string[];
}

/** `head` is the last block of the own chain. */
export function soughtBy(
  { engine: { tracker, pool }, index }: Omit<VotesOfChain, 'root' | 'scheme'>,
  head: TrackedBlock,
): Sought | undefined {
  const { justified } = tracker;
  const own = ancestorAt(head, justified.height, index);
  const isOwn = own !== undefined && equal(own.checkpoint.id, justified.id);
  const voted = pool
    .unknownTargets()
    .filter(
      ({ height, voters }) =>
        height > justified.height && mayBeQuorum(head.leaves, (name) => voters.has(name)),
    );
  const { height } = justified;
  const all = isOwn ? voted : [{ key: checkpointKey(justified), height }, ...voted];
  if (all.length === 0) return undefined;
  return { height: Math.max(...all.map(({ height }) => height)), keys: all.map(({ key }) => key) };
}

interface Asked {
  readonly owner: Uint8Array;
}

export interface SearchPorts<Peer extends Asked> {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** The head of the own chain. */
  readonly head: () => object;
  /** Dear with many voters: asked once for each head and for each change. */
  readonly sought: () => Sought | undefined;
  /** Whether the peer has told of a vote for one of these. */
  readonly hasTold: (peer: Peer, keys: readonly string[]) => boolean;
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
  private seen: { readonly head: object; readonly sought: Sought | undefined } | undefined;

  constructor(ports: SearchPorts<Peer>) {
    this.ports = ports;
  }

  /** There are other votes, or other blocks are known. */
  changed(): void {
    this.seen = undefined;
  }

  isSeeking(): boolean {
    return this.sought() !== undefined;
  }

  /** Whether the peer is to be asked now. */
  asks(peer: Peer): boolean {
    const { clock, peers, hasTold } = this.ports;
    const sought = this.sought();
    if (sought === undefined) return false;
    const pause = this.pauses.get(latin1(peer.owner));
    if (pause !== undefined && clock.monotonic() < pause.until) return false;
    const { keys } = sought;
    return hasTold(peer, keys) || !peers().some((other) => hasTold(other, keys));
  }

  /** The peer is asked for its chain, for whatever reason. */
  asked({ owner }: Peer): void {
    if (!this.isSeeking()) return;
    const name = latin1(owner);
    const before = this.pauses.get(name);
    const ms = before === undefined ? PAUSE_MS_MIN : Math.min(PAUSE_MS_MAX, 2 * before.ms);
    this.pauses.set(name, { ms, until: this.ports.clock.monotonic() + ms });
  }

  private sought(): Sought | undefined {
    const head = this.ports.head();
    if (this.seen?.head === head) return this.seen.sought;
    const sought = this.ports.sought();
    this.seen = { head, sought };
    if (sought !== undefined && sought.height > this.height) {
      this.pauses.clear();
      this.height = sought.height;
    }
    return sought;
  }
}
