/**
 * A block that broke a rule, with that rule. An error of this machine is no Refusal, so no block is
 * ever bad because of it.
 */
import { Refusal } from '../../base/errors.ts';

export class BadBlock extends Error {
  readonly id: Uint8Array;
  readonly refusal: Refusal;
  /**
   * False until its own signature is verified. Before that, a peer may have put the id of a good
   * block on a bad one; remembering the id would then exclude the good block.
   */
  readonly remembered: boolean;

  /** The block has no valid signature of its generator, or broke a rule before that was known. */
  readonly isForged: boolean;

  constructor(
    id: Uint8Array,
    refusal: Refusal,
    remembered: boolean,
    isForged = refusal.entry === 'InvalidSignature',
  ) {
    super(refusal.message);
    this.id = id;
    this.refusal = refusal;
    this.remembered = remembered;
    this.isForged = isForged;
  }
}

/** The refusal that the rule throws, if any. */
export function ruleBroken(rule: () => void): Refusal | undefined {
  try {
    rule();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}
