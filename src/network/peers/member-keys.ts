/**
 * The keys under which owners may join the network: those in the state and, while the chain of this
 * node is older than their answers, those that configured peers have sent
 * (network.md#first-start-of-a-node).
 */
import { latin1 } from '../../base/bytes.ts';
import type { ChainScheme } from '../../codec/codec.ts';

export interface MemberKeysPorts {
  readonly scheme: Pick<ChainScheme, 'addressOf'>;
  /** The key of an address that is registered in the state of this node. */
  readonly registeredKey: (address: Uint8Array) => Uint8Array | undefined;
}

export class MemberKeys {
  private readonly ports: MemberKeysPorts;
  private readonly isChecked: boolean;
  private readonly learned = new Map<string, Uint8Array>();
  private learnedAt = 0;

  /** `isChecked` false: every owner may join. */
  constructor(isChecked: boolean, ports: MemberKeysPorts) {
    this.isChecked = isChecked;
    this.ports = ports;
  }

  isMember(owner: Uint8Array): boolean {
    return !this.isChecked || this.of(owner) !== undefined;
  }

  /** The key under which this owner may join; where keys are not checked, the claimed one. */
  forHandshake(owner: Uint8Array, claimed: Uint8Array): Uint8Array | undefined {
    return this.isChecked ? this.of(owner) : claimed;
  }

  /**
   * Takes the place of what was learned before, and counts as long as that: who asks again and again
   * knows no more owners than answers, and not for ever. `now` is the time of day.
   */
  learn(keys: readonly Uint8Array[], now: number): void {
    if (this.learned.size === 0) this.learnedAt = now;
    this.learned.clear();
    for (const key of keys) this.learned.set(latin1(this.ports.scheme.addressOf(key)), key);
  }

  /**
   * Forgets learned keys once the chain has reached the time at which they were learned: the state
   * decides alone from then on, whatever happened between two heads. An older head says nothing of the
   * present, since an owner may have been removed and registered again later. True where keys go.
   */
  review(headTime: number): boolean {
    if (this.learned.size === 0 || headTime < this.learnedAt) return false;
    this.learned.clear();
    return true;
  }

  private of(owner: Uint8Array): Uint8Array | undefined {
    return this.ports.registeredKey(owner) ?? this.learned.get(latin1(owner));
  }
}
