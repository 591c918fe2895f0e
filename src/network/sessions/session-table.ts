/**
 * The open sessions, and the rules for admitting one.
 *
 * Invariants: there is one session for each owner; of two simultaneous connections, the one that
 * the lower owner address has dialled survives, so both ends choose the same; there are never more
 * sessions than allowed, and a configured node replaces the newest node that is not configured.
 */
import { compare, latin1 } from '../../base/bytes.ts';

export interface SessionPlaces {
  readonly ownAddress: Uint8Array;
  readonly connectionsMax: number;
  /** True for a node that the configuration names. */
  readonly isConfigured: (owner: Uint8Array, host: string) => boolean;
}

/** The facts that decide about the place of a session. */
export interface Applicant {
  readonly owner: Uint8Array;
  readonly remoteHost: string;
  /** True where this node has dialled. */
  readonly outbound: boolean;
}

export interface Placed extends Applicant {
  /** Removes the session from the table before it returns. */
  close(reason: string): void;
}

export class SessionTable<S extends Placed> {
  private readonly places: SessionPlaces;
  /** The oldest first. */
  private readonly byOwner = new Map<string, S>();

  constructor(places: SessionPlaces) {
    this.places = places;
  }

  get(owner: Uint8Array): S | undefined {
    return this.byOwner.get(latin1(owner));
  }

  /** A copy, because callers close sessions while they walk through it. */
  all(): S[] {
    return [...this.byOwner.values()];
  }

  /** Closes the session that must make room; otherwise returns the reason why there is no place. */
  makePlace(applicant: Applicant): 'exists' | 'full' | undefined {
    const existing = this.get(applicant.owner);
    if (existing !== undefined) {
      if (!this.isKept(applicant, existing)) return 'exists';
      existing.close('the other of two simultaneous connections is kept');
    }
    if (this.byOwner.size < this.places.connectionsMax) return undefined;
    return this.makeRoom(applicant) ? undefined : 'full';
  }

  add(session: S): void {
    this.byOwner.set(latin1(session.owner), session);
  }

  /** False where it is not the session of its owner, or no longer. */
  remove(session: S): boolean {
    return this.get(session.owner) === session && this.byOwner.delete(latin1(session.owner));
  }

  private isKept({ owner, outbound }: Applicant, existing: Applicant): boolean {
    const isSimultaneous = existing.outbound !== outbound;
    const ownIsLower = compare(this.places.ownAddress, owner) < 0;
    return isSimultaneous && outbound === ownIsLower;
  }

  private makeRoom({ owner, remoteHost }: Applicant): boolean {
    const { isConfigured } = this.places;
    if (!isConfigured(owner, remoteHost)) return false;
    const other = this.all().findLast((one) => !isConfigured(one.owner, one.remoteHost));
    other?.close('a peer of the configuration takes its place');
    return other !== undefined;
  }
}
