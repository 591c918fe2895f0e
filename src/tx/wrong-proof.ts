/** The refusal of a proof that is not the signature of its account, and no script judges it. */
import { catalogue, Refusal } from '../base/errors.ts';

/**
 * An honest node may hold the transaction where the account has a script, or had one, or will have
 * one in a block that this node lacks. So the refusal names the account.
 */
export class WrongProof extends Refusal {
  /** Address of the account: of the sender, or of the owner of an order. */
  readonly account: Uint8Array;

  constructor(account: Uint8Array, reason: string) {
    super('WrongProof', catalogue.WrongProof.text(reason));
    this.account = account;
  }
}
