/**
 * The keys under which owners may join the network: those in the state and, until the state has
 * them, those that configured peers have sent (network.md#first-start-of-a-node).
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

  learn(keys: readonly Uint8Array[]): void {
    for (const key of keys) this.learned.set(latin1(this.ports.scheme.addressOf(key)), key);
  }

  /** Keys that the state now holds, it may also remove. */
  review(): void {
    const { scheme, registeredKey } = this.ports;
    for (const [owner, key] of this.learned) {
      if (registeredKey(scheme.addressOf(key)) !== undefined) this.learned.delete(owner);
    }
  }

  private of(owner: Uint8Array): Uint8Array | undefined {
    return this.ports.registeredKey(owner) ?? this.learned.get(latin1(owner));
  }
}
