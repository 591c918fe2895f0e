/**
 * Peers that have sent transactions with proofs that are no signatures (network.md#penalties).
 *
 * A script permits what it likes, so an honest peer has such a transaction where its chain had a
 * script that ours lacks: a block behind, a block ahead, or on another branch. Whether it did shows
 * later. So a peer is judged when its head is part of our chain, some seconds after the transaction
 * came. It is to blame where all heads that it had announced before were part of our chain, too, for
 * as long as its pool may keep what another branch permitted, and the account has no script and had
 * none lately. What cannot be known is not blamed.
 *
 * An honest peer announces its head as soon as a session begins. One that does not is never judged, so
 * after a wrong proof it is asked for nothing until it does, or for ten minutes.
 *
 * Invariants: a judgement blames once, however many transactions came, because a branch that lives
 * for less than a second shows in no head; whoever sends many wrong proofs is not asked for
 * transactions for a while, to blame or not; all memory is bounded.
 */
import { unlessOurs } from '../../base/assert.ts';
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import type { ScriptHistory } from '../../chain/store/script-history.ts';
import { heightOf } from '../../chain/store/stored-blocks.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import type { WrongProof } from '../../tx/wrong-proof.ts';
import type { Session } from '../sessions/session.ts';
import type { PeerTip, PeerTips } from '../sync/peer-tips.ts';

export interface SuspicionsOptions {
  /** How long the pool of a peer may keep a transaction that its head refuses. */
  readonly keptMs: number;
}

export interface SuspicionsDeps {
  readonly blockchain: Pick<Blockchain, 'view' | 'listen'>;
  readonly peerTips: Pick<PeerTips, 'onTip'>;
  readonly scripts: Pick<ScriptHistory, 'hadScript'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Suspicion {
  readonly account: Uint8Array;
  readonly why: WrongProof;
  readonly at: number;
  /** The head that the peer had announced before. */
  readonly head: Uint8Array;
}

interface Suspect {
  session: Session;
  suspicions: Suspicion[];
  /** Wrong proofs since a time on the monotonic clock. */
  count: number;
  since: number;
  /** When the last one came. */
  at: number;
}

interface AnnouncedHead {
  readonly session: Session;
  readonly id: Uint8Array;
  readonly at: number;
  /** When the first of the heads was announced that have led to this one on our chain. */
  readonly since: number;
}

/** A head that comes later was announced later; the peer announces each within a second. */
const GRACE_MS = 5_000;
/** After that nothing is learned any more, and a peer is no suspect. */
const FORGET_MS = 10 * 60_000;
const SUSPICIONS_MAX = 16;
/** Wrong proofs within this time, after which a peer is muted for as long. */
const MUTE_MS = 10_000;
export const WRONG_PROOFS_MAX = 500;
const PEERS_MAX = 1_000;

export class Suspicions {
  private readonly keptMs: number;
  private readonly deps: SuspicionsDeps;
  /** By owner, so that a new session does not clear them. */
  private readonly suspects = new BoundedCache<string, Suspect>(PEERS_MAX);
  private readonly announced = new BoundedCache<string, AnnouncedHead>(PEERS_MAX);
  /** Owners with suspicions. */
  private readonly open = new Set<string>();
  private forget: (() => void) | undefined;
  private stopped = false;

  constructor(options: SuspicionsOptions, deps: SuspicionsDeps) {
    this.keptMs = options.keptMs;
    this.deps = deps;
  }

  start(): void {
    const { blockchain, peerTips } = this.deps;
    // A head is often announced before its block arrives.
    this.forget = blockchain.listen({
      block: () => {
        for (const key of this.open) this.judge(key);
      },
    });
    peerTips.onTip((head) => this.tipAnnounced(head));
  }

  note(session: Session, why: WrongProof): void {
    const { account } = why;
    const key = latin1(session.owner);
    const suspect = this.suspectOf(session);
    const at = this.deps.clock.monotonic();
    if (at - suspect.since >= MUTE_MS) Object.assign(suspect, { count: 0, since: at });
    suspect.count++;
    // From then on it is muted for the whole time.
    if (suspect.count === WRONG_PROOFS_MAX) suspect.since = at;
    if (suspect.suspicions.length >= SUSPICIONS_MAX) return;
    const head = this.announced.get(key);
    if (head?.session !== session || at - head.since < this.keptMs) return;
    suspect.suspicions.push({ account: account.slice(), why, at, head: head.id });
    this.open.add(key);
  }

  /**
   * True where the peer has sent so many wrong proofs that it is not asked for a while; or one, and
   * no head in this session, without which it is never judged.
   */
  isMuted(session: Session): boolean {
    const key = latin1(session.owner);
    const suspect = this.known(key);
    if (suspect === undefined) return false;
    if (this.announced.get(key)?.session !== session) return true;
    if (suspect.count < WRONG_PROOFS_MAX) return false;
    return this.deps.clock.monotonic() - suspect.since < MUTE_MS;
  }

  stop(): void {
    this.stopped = true;
    this.forget?.();
  }

  private tipAnnounced({ session, id }: PeerTip): void {
    const key = latin1(session.owner);
    const at = this.deps.clock.monotonic();
    const before = this.announced.get(key);
    // Nobody knows which heads the peer had between two sessions.
    const isOnOurs = before !== undefined && before.session === session && this.isOurs(before.id);
    this.announced.set(key, { session, id, at, since: isOnOurs ? before.since : at });
    if (this.open.has(key)) this.judge(key);
  }

  private known(key: string): Suspect | undefined {
    const suspect = this.suspects.get(key);
    if (suspect === undefined) return undefined;
    if (this.deps.clock.monotonic() - suspect.at < FORGET_MS) return suspect;
    this.suspects.delete(key);
    this.open.delete(key);
    return undefined;
  }

  private suspectOf(session: Session): Suspect {
    const key = latin1(session.owner);
    const at = this.deps.clock.monotonic();
    const suspect = this.known(key) ?? { session, suspicions: [], count: 0, since: at, at };
    Object.assign(suspect, { session, at });
    this.suspects.set(key, suspect);
    return suspect;
  }

  private isOurs(id: Uint8Array): boolean {
    return heightOf(this.deps.blockchain.view, id) !== undefined;
  }

  private judge(key: string): void {
    const suspect = this.known(key);
    const head = this.announced.get(key);
    const now = this.deps.clock.monotonic();
    const left = suspect?.suspicions.filter(({ at }) => now - at < FORGET_MS) ?? [];
    const isRipe = ({ at }: Suspicion): boolean =>
      head !== undefined && head.at - at >= GRACE_MS && this.isOurs(head.id);
    const ripe = left.filter(isRipe);
    if (suspect !== undefined) suspect.suspicions = left.filter((one) => !isRipe(one));
    if (suspect === undefined || suspect.suspicions.length === 0) this.open.delete(key);
    if (suspect === undefined || ripe.length === 0) return;
    this.blame(suspect.session, ripe).catch(
      unlessOurs((cause) => this.deps.log.error('peer.not-judged', { why: String(cause) })),
    );
  }

  private async blame(session: Session, ripe: readonly Suspicion[]): Promise<void> {
    for (const { account, why, head } of ripe) {
      if (!this.isOurs(head) || (await this.deps.scripts.hadScript(account))) continue;
      if (!this.stopped) session.offend('invalid-transactions', why);
      return;
    }
  }
}
