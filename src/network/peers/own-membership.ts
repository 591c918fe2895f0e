/**
 * Whether the network takes this node for a member (network.md#registration). The chain of this
 * node says so. Where that is behind, because the node was off when it was removed, the nodes that
 * it dials say so. The log has one line when that changes.
 */
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';

export interface OwnMembershipPorts {
  /** The owner of this node, as text. */
  readonly owner: string;
  /** The state at the head has the owner. */
  readonly isRegistered: () => boolean;
  /** True while another node has a session with this one. */
  readonly isConnected: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

export const notInChain = (owner: string): string =>
  `the chain does not have '${owner}', the owner of this node: ` +
  'it was removed, or its registration has not arrived yet';

/** One of several nodes may be behind, and the next may accept. */
const REFUSED_MS = 10_000;

export class OwnMembership {
  private readonly ports: OwnMembershipPorts;
  private wasRegistered: boolean;
  /** When a known node first refused this one, if none has accepted it since. */
  private refusedSince: number | undefined;
  private isRefused = false;

  constructor(ports: OwnMembershipPorts) {
    this.ports = ports;
    this.wasRegistered = ports.isRegistered();
  }

  /** Why no node takes anything from this one; undefined while it is a member. */
  problem(): string | undefined {
    const { owner, isRegistered } = this.ports;
    if (!isRegistered()) return notInChain(owner);
    return this.isRefused ? `other nodes refuse '${owner}', the owner of this node` : undefined;
  }

  /** After every change of the head. */
  review(): void {
    const { owner, isRegistered, log } = this.ports;
    const isMember = isRegistered();
    if (isMember === this.wasRegistered) return;
    this.wasRegistered = isMember;
    this.accepted();
    if (isMember) log.info('network.registered', { owner });
    else log.warn('network.removed', { owner });
  }

  /** A known node says that the owner of this one is no member. */
  refusedAt(place: string): void {
    const { owner, isRegistered, isConnected, clock, log } = this.ports;
    if (this.isRefused || isConnected() || !isRegistered()) return;
    const now = clock.monotonic();
    this.refusedSince ??= now;
    if (now - this.refusedSince < REFUSED_MS) return;
    this.isRefused = true;
    log.warn('network.not-permitted', { owner, place });
  }

  /** A session with another node has begun. */
  accepted(): void {
    this.refusedSince = undefined;
    this.isRefused = false;
  }
}
