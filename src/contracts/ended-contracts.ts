/** The contracts that a block ends, or gives another image. */
import { latin1 } from '../base/bytes.ts';
import { withMembers } from '../tx/members.ts';
import type { Tx } from '../tx/transaction.ts';
import { disableContract } from '../tx/types/106-disable-contract.ts';
import { updateContract } from '../tx/types/107-update-contract.ts';

/** Their ids as Latin-1 text. */
export function* endedContracts(txs: readonly Tx[]): Generator<string> {
  for (const mined of withMembers(txs)) {
    const tx = mined.def.inner?.(mined) ?? mined;
    if (tx.type !== disableContract.type && tx.type !== updateContract.type) continue;
    yield latin1(tx.fields['contractId'] as Uint8Array);
  }
}
