/**
 * Adds members to an access group or removes them (transactions.md §7, §9).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | policyId 2+32 | count 4, recipients 26 each
 *       | count 4, owners 26 each | opType 1 | timestamp 8 | fee 8
 *   v2  feeAssetId at the end; v3 also badge
 */
import { members, policyId } from '../contract.ts';
import { atomicBadge, feature } from '../extensions.ts';
import { fee, feeAssetId, senderPublicKey, timestamp } from '../fields.ts';
import { opType } from '../permission.ts';
import { transaction } from '../transaction.ts';

const first = ['senderPublicKey', 'policyId', 'recipients', 'owners', 'opType', 'timestamp', 'fee'];
const second = [...first, 'feeAssetId'];

export const updatePolicy = transaction({
  type: 113,
  name: 'UpdatePolicyTransaction',
  key: 'update-policy',
  doc: 'Changes the members of an access group.',
  fields: {
    senderPublicKey,
    policyId,
    recipients: members,
    owners: members,
    opType,
    timestamp,
    fee,
    feeAssetId,
    atomicBadge,
  },
  layouts: [
    { version: 1, frame: 'proven', fields: first },
    { version: 2, frame: 'proven', fields: second, feature: feature.sponsoredFees },
    { version: 3, frame: 'proven', fields: [...second, 'atomicBadge'], feature: feature.atomic },
  ],
  fee: 50_000_000n,
});
