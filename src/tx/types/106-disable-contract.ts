/**
 * Ends a contract (transactions.md §7, §9).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | contractId 2+32 | fee 8 | timestamp 8
 *   v2  feeAssetId at the end; v3 also badge
 */
import { contractId } from '../contract.ts';
import { atomicBadge, feature } from '../extensions.ts';
import { fee, feeAssetId, senderPublicKey, timestamp } from '../fields.ts';
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
});
