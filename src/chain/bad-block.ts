/** A block that broke a rule, with that rule. */
import { ApiError } from '../base/errors.ts';

export class BadBlock extends Error {
  readonly id: Uint8Array;
  readonly refusal: ApiError;
  /**
   * False until its own signature is verified. Before that, a peer may have put the id of a good
   * block on a bad one; remembering the id would then exclude the good block.
   */
  readonly remembered: boolean;

  constructor(id: Uint8Array, refusal: ApiError, remembered: boolean) {
    super(refusal.message);
    this.id = id;
    this.refusal = refusal;
    this.remembered = remembered;
  }
}

/** The refusal that the rule throws, if any. */
export function ruleBroken(rule: () => void): ApiError | undefined {
  try {
    rule();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
