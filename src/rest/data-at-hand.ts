/**
 * The data behind the hash of a type 114, which a node must have to take it (decision 30: broadcast of
 * a type 114).
 *
 * Invariant: whoever may not have an item does not learn from the answer whether this node has it
 * (H-22: one answer to all who may not have an item), and causes no read of the storage. So signatures
 * and rules come first, as the pool has them; and what waits in the pool, of which everybody has a
 * copy with its signature, is answered without a look at the storage.
 */
import { apiError } from '../base/errors.ts';
import { scripts } from '../ledger/tables.ts';
import { invalidSignature } from '../tx/judge-proofs.ts';
import { withMembers } from '../tx/members.ts';
import { provenOf } from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import { policyDataHash } from '../tx/types/114-policy-data-hash.ts';
import type { Services } from './services.ts';

/**
 * Throws ApiError unless this node has the data of each type 114 that the transaction is or holds, or
 * the pool has the transaction.
 */
export async function requireData(tx: Tx, services: Services): Promise<void> {
  const all = [...withMembers([tx])];
  const bound = all.filter(({ type }) => type === policyDataHash.type);
  if (bound.length === 0) return;
  const { privacy, pool } = services;
  await pool.whenRead();
  if (pool.get(tx.id) !== undefined) return;
  if (privacy !== undefined) {
    for (const one of all) await requireSignature(one, services);
    await pool.check(tx);
  }
  for (const { version, fields } of bound) {
    const item = {
      policyId: fields['policyId'] as Uint8Array,
      hash: fields['dataHash'] as Uint8Array,
    };
    if ((await privacy?.holds(item)) === true) continue;
    const name = `PolicyDataHash V${version}`;
    throw apiError('Invalid', `${name} transaction is not allowed to be broadcasted`);
  }
}

/** A script judges in the pool, as does the rule for the number of proofs. */
async function requireSignature(tx: Tx, { view, verifier }: Services): Promise<void> {
  const { publicKey, message, proofs } = provenOf(tx);
  const [proof] = proofs;
  if (proof === undefined || view.get(scripts, tx.sender) !== undefined) return;
  if (!(await verifier.verifyOne(publicKey, message, proof))) throw invalidSignature(tx, tx.sender);
}
