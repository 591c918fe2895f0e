/**
 * The open sessions, and the rules for admitting one.
 *
 * Invariants: there is one session for each owner; of two simultaneous connections, the one that
 * the lower owner address has dialled survives, so both ends choose the same; nobody gets a place above
 * the allowed number. On a miner, sessions with other miners are not counted, since without most of them
 * it makes no block. In a full table, a configured node replaces one that is not configured, and a miner one
 * that is neither, until half of the places are taken by miners.
 */
import { compare, latin1 } from '../../base/bytes.ts';
import type { NodeMode } from '../messages/handshake-messages.ts';

/** Who makes the blocks of the network now (counted-miners.ts). */
export interface NetworkMiners {
  /** The accounts of all but this node. */
  readonly others: readonly Uint8Array[];
  /** This node is a miner, too. */
  readonly isMiner: boolean;
}

export interface SessionPlaces {
  readonly ownAddress: Uint8Array;
  readonly connectionsMax: number;
  /** True for a node that the configuration names. */
  readonly isConfigured: (owner: Uint8Array, host: string) => boolean;
  readonly miners: () => NetworkMiners;
}

/** The facts that decide about the place of a session. */
export interface Applicant {
  readonly owner: Uint8Array;
  /** The account that makes its blocks. */
  readonly miner: Uint8Array;
  /** A watcher makes none. */
  readonly mode: NodeMode;
  readonly remoteHost: string;
  /** True where this node has dialled. */
  readonly outbound: boolean;
}

/** Whom the table has room for, if need be by another session that leaves. */
export interface Room {
  readonly forAnybody: boolean;
  readonly forConfigured: boolean;
  /** On a node that is a miner: accounts of others with which it has no session, as `latin1`. */
  readonly forMiners: ReadonlySet<string>;
}

const ROOM_FOR_ALL: Room = { forAnybody: true, forConfigured: true, forMiners: new Set() };

type Kind = 'configured' | 'miner' | 'any';

export interface Placed extends Applicant {
  /** Removes the session from the table before it returns. */
  close(reason: string): void;
}

/** A miner may have a second node that stands by. */
export const NODES_OF_MINER = 2;

interface MinerSessions<S> {
  /** The number of sessions of each other miner, by its account as `latin1`. */
  readonly open: ReadonlyMap<string, number>;
  readonly sessions: ReadonlySet<S>;
  /** They take no place of others. */
  readonly isBeside: boolean;
}

const isOfMiner = ({ miner, mode }: Applicant, open: MinerSessions<unknown>['open']): boolean =>
  mode !== 'watcher' && (open.get(latin1(miner)) ?? NODES_OF_MINER) < NODES_OF_MINER;

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
      return undefined;
    }
    const { kind, leaving, isFull } = this.placeOf(applicant);
    leaving?.close(`a ${kind} node takes its place`);
    return isFull ? 'full' : undefined;
  }

  /** Whether there is a place for somebody who has no session, who may have to take that of another. */
  hasPlaceFor(applicant: Applicant): boolean {
    return this.get(applicant.owner) !== undefined || !this.placeOf(applicant).isFull;
  }

  room(): Room {
    if (this.byOwner.size < this.places.connectionsMax) return ROOM_FOR_ALL;
    const miners = this.minerSessions();
    const forAnybody = this.hasRoom(miners);
    const lacked = new Set([...miners.open].flatMap(([account, n]) => (n === 0 ? account : [])));
    return {
      forAnybody,
      forConfigured: forAnybody || this.leavingFor('configured', miners) !== undefined,
      forMiners: miners.isBeside ? lacked : new Set(),
    };
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

  private isConfigured({ owner, remoteHost }: Applicant): boolean {
    return this.places.isConfigured(owner, remoteHost);
  }

  private placeOf(applicant: Applicant) {
    if (this.byOwner.size < this.places.connectionsMax) return { isFull: false };
    const miners = this.minerSessions();
    const isMiner = isOfMiner(applicant, miners.open);
    if (this.hasRoom(miners) || (isMiner && miners.isBeside)) return { isFull: false };
    const kind = this.isConfigured(applicant) ? 'configured' : isMiner ? 'miner' : 'any';
    const leaving = this.leavingFor(kind, miners);
    return { kind, leaving, isFull: leaving === undefined };
  }

  private minerSessions(): MinerSessions<S> {
    const { others, isMiner } = this.places.miners();
    const open = new Map(others.map((account) => [latin1(account), 0]));
    const sessions = new Set<S>();
    for (const session of this.all()) {
      if (!isOfMiner(session, open)) continue;
      const account = latin1(session.miner);
      open.set(account, open.get(account)! + 1);
      sessions.add(session);
    }
    return { open, sessions, isBeside: isMiner };
  }

  private hasRoom({ sessions, isBeside }: MinerSessions<S>): boolean {
    const beside = isBeside ? sessions.size : 0;
    return this.byOwner.size - beside < this.places.connectionsMax;
  }

  /** The newest, and a miner only where nobody else can leave. Miners take half of the places. */
  private leavingFor(kind: Kind, { sessions, isBeside }: MinerSessions<S>): S | undefined {
    if (kind === 'any') return undefined;
    if (kind === 'miner' && sessions.size >= this.places.connectionsMax / 2) return undefined;
    const others = this.all().filter((one) => !this.isConfigured(one));
    const other = others.findLast((one) => !sessions.has(one));
    return other ?? (kind === 'configured' && !isBeside ? others.at(-1) : undefined);
  }
}
