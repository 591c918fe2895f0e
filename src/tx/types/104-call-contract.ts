/**
 * Calls a contract (transactions.md#proof-style, transactions.md#types-and-versions).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | contractId 2+32 | count 2, params | fee 8
 *       | timestamp 8
 *   v2  contractVersion 4 at the end; v3 also feeAssetId; v4 also badge; v5 also payments
 */
import { refused } from '../../base/errors.ts';
import { i32 } from '../../codec/primitives.ts';
import { since, withDefault } from '../../codec/struct.ts';
import { base58 } from '../../codec/text.ts';
import { params } from '../fields/entries.ts';
import { atomicBadge, payments } from '../fields/extensions.ts';
import { fee, feeAssetId, senderPublicKey, timestamp } from '../fields/shared.ts';
import { contractId } from '../fields/sized-id.ts';
import { existingContract, guardActive, guardNotExecuted } from '../rules/contract-rules.ts';
import { feature } from '../rules/features.ts';
import { CONTRACT_TX_BYTES_MAX, contractTooBig } from '../size.ts';
import { transaction } from '../transaction.ts';

const first = ['senderPublicKey', 'contractId', 'params', 'fee', 'timestamp'];
const second = [...first, 'contractVersion'];
const third = [...second, 'feeAssetId'];
const fourth = [...third, 'atomicBadge'];

export const callContract = transaction({
  type: 104,
  name: 'CallContractTransaction',
  key: 'call-contract',
  doc: 'Calls a contract.',
  fields: {
    senderPublicKey,
    contractId,
    params,
    fee,
    timestamp,
    /** A call of version 1 means the first version of the contract. */
    contractVersion: since(withDefault(i32, 1), 1),
    feeAssetId,
    atomicBadge,
    payments,
  },
  layouts: [
    { version: 1, frame: 'proven', fields: first },
    { version: 2, frame: 'proven', fields: second },
    { version: 3, frame: 'proven', fields: third, feature: feature.sponsoredFees },
    { version: 4, frame: 'proven', fields: fourth, feature: feature.atomic },
    {
      version: 5,
      frame: 'proven',
      fields: [...fourth, 'payments'],
      feature: feature.contractValidation,
    },
  ],
  fee: 10_000_000n,
  bytesMax: CONTRACT_TX_BYTES_MAX,
  tooBig: contractTooBig,
  executable: true,
  record: ({ fields }) => ({
    contractId: fields.contractId,
    contractVersion: BigInt(fields.contractVersion),
  }),
  contract: ({ fields }) => fields.contractId,
  apply({ fields, id: transactionId }, ledger) {
    guardNotExecuted(ledger, transactionId);
    const { contractId: id, contractVersion: called } = fields;
    const contract = existingContract(ledger, id);
    if (called !== contract.version) {
      throw refused(
        `Called version '${called}' of contract with id '${base58.encode(id)}' ` +
          `doesn't match actual contract version '${contract.version}'`,
      );
    }
    guardActive(contract, id);
  },
});
