/**
 * Addresses that are configured or at which a handshake has succeeded.
 *
 * Invariants: a configured address is never forgotten; a learned one is forgotten some time after
 * the last message of its owner, and when there are too many of that owner or in all; an address from the file without a
 * new handshake is forgotten after a number of dials. An address whose owner is no member is hidden
 * until the owner is one again, also a configured one. Only an owner that has proved itself there
 * counts; what is claimed without a proof spares some dials and is soon forgotten. An address of the
 * file where nobody was met since the start has nothing to lose, so there a claim is enough.
 */
import { latin1 } from '../../base/bytes.ts';
import { hostKey } from '../../base/ip-range.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { addressText, type PeerAddress } from '../messages/peer-address.ts';

/** A node that has proved itself. */
export interface Met {
  readonly owner: Uint8Array;
  /** The account that makes its blocks. */
  readonly miner: Uint8Array;
}

export interface KnownPlace {
  readonly address: PeerAddress;
  readonly configured: boolean;
  /** Time of day. */
  readonly lastSeen: number;
  /** The owner last met there; undefined before the first handshake. */
  readonly owner: Uint8Array | undefined;
  readonly miner: Uint8Array | undefined;
  /** Whom a node there claimed to be a moment ago, without a proof. */
  readonly claimed: Uint8Array | undefined;
}

interface Row {
  readonly address: PeerAddress;
  /** The host, however it is written. */
  readonly hostKey: string;
  readonly configured: boolean;
  lastSeen: number;
  /** The same moment on the monotonic clock. */
  seenAt: number;
  owner: Uint8Array | undefined;
  miner: Uint8Array | undefined;
  claim: { readonly owner: Uint8Array; readonly until: number } | undefined;
  /** Failed dials since the last successful handshake there. */
  failedDials: number;
  /** Read from the file, without a successful handshake since the start. */
  isUnconfirmed: boolean;
  /** The owner was no member at the last review. */
  isHidden: boolean;
}

export const LEARNED_MAX = 1000;
/** Learned places of one owner: one that moves on and on displaces its own and nobody else's. */
export const LEARNED_OF_OWNER_MAX = 4;
/** Failed dials after which an address from the file is dropped, unless one has succeeded. */
const FAILED_DIALS_MAX = 10;
/** Whoever held an address for a moment keeps nobody away from it for longer. */
export const CLAIM_MS = 60_000;

export class KnownPlaces {
  private readonly rows = new Map<string, Row>();
  private readonly rowsMax: number;
  private readonly residenceMs: number;
  private readonly clock: Clock;
  /** IP addresses of configured hosts, as `hostKey`. */
  private readonly located = new Map<string, string>();

  constructor(configured: readonly PeerAddress[], residenceMs: number, clock: Clock) {
    this.rowsMax = LEARNED_MAX + configured.length;
    this.residenceMs = residenceMs;
    this.clock = clock;
    for (const address of configured) this.add(address, true);
  }

  /** False for a hidden one, where another node may be by now. */
  has(text: string): boolean {
    return this.rows.get(text)?.isHidden === false;
  }

  /** By their text, without expired and hidden ones. */
  all(): ReadonlyMap<string, KnownPlace> {
    const now = this.clock.monotonic();
    for (const [text, { configured, seenAt }] of this.rows) {
      if (!configured && now - seenAt > this.residenceMs) this.rows.delete(text);
    }
    return new Map(
      [...this.rows]
        .filter(([, { isHidden }]) => !isHidden)
        .map(([text, row]) => [text, { ...row, claimed: claimedIn(row, now) }]),
    );
  }

  /** An address from the file. */
  restore(address: PeerAddress): void {
    if (!this.has(addressText(address))) this.add(address, false).isUnconfirmed = true;
  }

  /** A handshake with this node has succeeded there. */
  confirm(address: PeerAddress, { owner, miner }: Met): void {
    const text = addressText(address);
    const row = this.rows.get(text) ?? this.add(address, false);
    if (!row.configured) {
      // The last one confirmed is the last one forgotten.
      this.rows.delete(text);
      this.rows.set(text, row);
    }
    row.owner = owner;
    row.miner = miner;
    this.limit(owner);
    row.claim = undefined;
    row.failedDials = 0;
    row.isUnconfirmed = false;
    row.isHidden = false;
    this.see(row);
  }

  /** A node there claims this owner. */
  suspect(address: PeerAddress, owner: Uint8Array): void {
    const row = this.rows.get(addressText(address));
    if (row !== undefined) row.claim = { owner, until: this.clock.monotonic() + CLAIM_MS };
  }

  /** A dial has failed. */
  fail(address: PeerAddress): void {
    const text = addressText(address);
    const row = this.rows.get(text);
    if (row === undefined || row.configured) return;
    // The time limit restarts with every start of the node, so such an address would be dialled for
    // ever.
    if (++row.failedDials >= FAILED_DIALS_MAX && row.isUnconfirmed) this.rows.delete(text);
  }

  touch(owner: Uint8Array): void {
    const key = latin1(owner);
    for (const row of this.rows.values()) {
      if (row.owner !== undefined && latin1(row.owner) === key) this.see(row);
    }
  }

  /** Hides the addresses of owners that are no members, and shows those of members again. */
  review(isMember: (owner: Uint8Array) => boolean): void {
    for (const row of this.rows.values()) {
      const owner = row.owner ?? (row.isUnconfirmed ? row.claim?.owner : undefined);
      row.isHidden = owner !== undefined && !isMember(owner);
    }
  }

  /** A configured address stays. */
  remove(text: string): void {
    if (this.rows.get(text)?.configured === false) this.rows.delete(text);
  }

  locate(host: string, digits: string): void {
    this.located.set(host, hostKey(digits));
  }

  isConfigured(owner: Uint8Array | undefined, host: string): boolean {
    const key = owner === undefined ? undefined : latin1(owner);
    const place = hostKey(host);
    return [...this.rows.values()].some(
      (row) =>
        row.configured &&
        !row.isHidden &&
        (row.hostKey === place ||
          this.located.get(row.address.host) === place ||
          (row.owner !== undefined && latin1(row.owner) === key)),
    );
  }

  private add(address: PeerAddress, configured: boolean): Row {
    const row: Row = {
      address,
      hostKey: hostKey(address.host),
      configured,
      lastSeen: 0,
      seenAt: 0,
      owner: undefined,
      miner: undefined,
      claim: undefined,
      failedDials: 0,
      isUnconfirmed: false,
      isHidden: false,
    };
    this.see(row);
    this.rows.set(addressText(address), row);
    if (this.rows.size > this.rowsMax) {
      const oldest = [...this.rows].find(([, { configured }]) => !configured);
      if (oldest !== undefined) this.rows.delete(oldest[0]);
    }
    return row;
  }

  private limit(owner: Uint8Array): void {
    const key = latin1(owner);
    const learned = [...this.rows].filter(
      ([, row]) => !row.configured && row.owner !== undefined && latin1(row.owner) === key,
    );
    for (const [text] of learned.slice(0, -LEARNED_OF_OWNER_MAX)) this.rows.delete(text);
  }

  private see(row: Row): void {
    row.lastSeen = this.clock.now();
    row.seenAt = this.clock.monotonic();
  }
}

const claimedIn = ({ claim }: Row, now: number): Uint8Array | undefined =>
  claim !== undefined && now < claim.until ? claim.owner : undefined;
