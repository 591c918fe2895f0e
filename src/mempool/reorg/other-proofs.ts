/**
 * What the pool held of transactions that a block has with other proofs. An id does not cover the
 * proofs, and a script may have permitted any. Where the block is rolled back, the script may be
 * gone: so the copy that this node has acknowledged comes back, and not that of the block.
 *
 * Invariant: the bytes are bounded; the oldest are forgotten first, and all at a stop.
 */

/** More than the blocks of a deep reorganisation hold. */
export const OTHER_PROOFS_BYTES_MAX = 16 * 1024 * 1024;

export class OtherProofs {
  private readonly byId = new Map<string, Uint8Array>();
  private bytes = 0;

  /** `bytes` are copied. */
  note(key: string, bytes: Uint8Array): void {
    this.forget(key);
    this.byId.set(key, bytes.slice());
    this.bytes += bytes.length;
    for (const oldest of this.byId.keys()) {
      if (this.bytes <= OTHER_PROOFS_BYTES_MAX) return;
      this.forget(oldest);
    }
  }

  get(key: string): Uint8Array | undefined {
    return this.byId.get(key);
  }

  forget(key: string): void {
    const known = this.byId.get(key);
    if (known === undefined) return;
    this.byId.delete(key);
    this.bytes -= known.length;
  }
}
