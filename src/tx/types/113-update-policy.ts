/**
 * Adds members to an access group or removes them (transactions.md#proof-style,
 * transactions.md#types-and-versions).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | policyId 2+32 | count 4, recipients 26 each
 *       | count 4, owners 26 each | opType 1 | timestamp 8 | fee 8
 *   v2  feeAssetId at the end; v3 also badge
 */
import { refused } from '../../base/errors.ts';
import { base58 } from '../../codec/text.ts';
import {
  addMembers,
  areAllMembers,
  isMember,
  type MemberKind,
  OWNER,
  RECIPIENT,
  removeMembers,
} from '../../ledger/policies.ts';
import { atomicBadge } from '../fields/extensions.ts';
import { opType } from '../fields/permission.ts';
import { members } from '../fields/policy-members.ts';
import { fee, feeAssetId, senderPublicKey, timestamp } from '../fields/shared.ts';
import { policyId } from '../fields/sized-id.ts';
import { feature } from '../rules/features.ts';
import { requirePolicy, strangersIn } from '../rules/policy-rules.ts';
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
  apply({ fields, sender }, ledger) {
    const { policyId: id, recipients, owners } = fields;
    if (owners.length === 0 && recipients.length === 0) {
      throw refused('Invalid UpdatePolicyTransaction: empty owners and recipients');
    }
    requirePolicy(ledger, id);
    const isAdding = fields.opType === 'add';
    const strangers = isAdding ? strangersIn(ledger, recipients) : [];
    if (strangers.length > 0) {
      throw refused(`Unaccepted recipients in policy update: [${strangers.join(', ')}]`);
    }
    if (!isMember(ledger, id, OWNER, sender)) {
      const address = ledger.scheme.addressToText(sender);
      throw refused(`Sender '${address}' is not owner for policy with id '${base58.encode(id)}'`);
    }
    const isIn = (kind: MemberKind) => (address: Uint8Array) => isMember(ledger, id, kind, address);
    if (isAdding) {
      if (owners.some(isIn(OWNER)) || recipients.some(isIn(RECIPIENT))) {
        throw refused('Cannot add owners or recipients that are already in the policy');
      }
      addMembers(ledger, id, OWNER, owners);
      addMembers(ledger, id, RECIPIENT, recipients);
      return;
    }
    if (areAllMembers(ledger, id, OWNER, owners)) {
      throw refused('Forbidden to remove all policy owners');
    }
    if (!owners.every(isIn(OWNER)) || !recipients.every(isIn(RECIPIENT))) {
      throw refused('Cannot remove owners or recipients that are absent from the policy');
    }
    removeMembers(ledger, id, OWNER, owners);
    removeMembers(ledger, id, RECIPIENT, recipients);
  },
});
