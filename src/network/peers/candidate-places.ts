/** Addresses that peers have announced, until the first dial; the oldest are dropped first. */
import type { PeerAddress } from '../messages/peer-address.ts';

const CANDIDATES_MAX = 100;

export class CandidatePlaces {
  private readonly places = new Map<string, PeerAddress>();
  private readonly urgent = new Set<string>();

  has(text: string): boolean {
    return this.places.has(text);
  }

  /** By their text, the oldest first. */
  all(): ReadonlyMap<string, PeerAddress> {
    return this.places;
  }

  /** True for an address that is dialled before others. */
  isUrgent(text: string): boolean {
    return this.urgent.has(text);
  }

  add(text: string, address: PeerAddress, isUrgent: boolean): void {
    this.places.set(text, address);
    if (isUrgent) this.urgent.add(text);
    if (this.places.size > CANDIDATES_MAX) this.remove(this.places.keys().next().value!);
  }

  remove(text: string): void {
    this.places.delete(text);
    this.urgent.delete(text);
  }
}
