/** One signature to check. */
export interface SignatureCheck {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/** Signature checks, possibly on other threads. */
export interface Verifier {
  verifyOne(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean>;
  /** Verdicts in the order of the items. */
  verify(items: readonly SignatureCheck[]): Promise<boolean[]>;
  /** Checks not yet answered; absent where checks run at once. */
  readonly pending?: number;
  close(): Promise<void>;
}
