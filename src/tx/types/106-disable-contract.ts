/**
 * Ends a contract (transactions.md#proof-style, transactions.md#types-and-versions).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | contractId 2+32 | fee 8 | timestamp 8
 *   v2  feeAssetId at the end; v3 also badge
 */
import { equal } from '../../base/bytes.ts';
import { apiError, refused } from '../../base/errors.ts';
import { base58 } from '../../codec/text.ts';
import { putContract } from '../../ledger/contracts.ts';
import { atomicBadge } from '../fields/extensions.ts';
import { fee, feeAssetId, senderPublicKey, timestamp } from '../fields/shared.ts';
import { contractId } from '../fields/sized-id.ts';
import { existingContract } from '../rules/contract-rules.ts';
import { feature } from '../rules/features.ts';
import { transaction } from '../transaction.ts';

const first = ['senderPublicKey', 'contractId', 'fee', 'timestamp'];
const second = [...first, 'feeAssetId'];

export const disableContract = transaction({
  type: 106,
  name: 'DisableContractTransaction',
  key: 'disable-contract',
  doc: 'Ends a contract.',
  fields: { senderPublicKey, contractId, fee, timestamp, feeAssetId, atomicBadge },
  layouts: [
    { version: 1, frame: 'proven', fields: first },
    { version: 2, frame: 'proven', fields: second, feature: feature.sponsoredFees },
    { version: 3, frame: 'proven', fields: [...second, 'atomicBadge'], feature: feature.atomic },
  ],
  fee: 1_000_000n,
  record: ({ fields }) => ({ contractId: fields.contractId }),
  contract: ({ fields }) => fields.contractId,
  apply({ fields }, ledger) {
    const { contractId: id, senderPublicKey: key } = fields;
    const contract = existingContract(ledger, id);
    if (!equal(contract.creator, key)) {
      throw refused(
        `Can't disable contract: transaction sender '${base58.encode(key)}' ` +
          `is not developer of contract '${base58.encode(id)}'`,
      );
    }
    if (!contract.active) throw apiError('ContractAlreadyDisabled', base58.encode(id));
    putContract(ledger, id, { ...contract, active: false });
  },
});
