/**
 * Units of work that a function charges to a script (docs/protocol/scripts.md#metering): a fixed
 * number, and more for each begun piece of what it works on. All numbers are integers.
 */
export interface Charge {
  readonly fixed: number;
  readonly per: number;
  /** Size of a piece, in bytes, code units or elements. */
  readonly each: number;
}

export const unitsOf = ({ fixed, per, each }: Charge, size: number): number =>
  fixed + per * Math.ceil(size / each);

/** What the functions of a cryptography family charge, by the size of the message in bytes. */
export interface CryptoCharges {
  /** One of its hashes. */
  readonly hash: Charge;
  /** The check of a signature. */
  readonly verify: Charge;
}
