/**
 * Creates an access group; the id of the transaction is its id (transactions.md#proof-style,
 * transactions.md#types-and-versions).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | policyName 2+n | description 2+n
 *       | count 4, recipients 26 each | count 4, owners 26 each | timestamp 8 | fee 8
 *   v2  feeAssetId at the end; v3 also badge
 */
import { equal } from '../../base/bytes.ts';
import { apiError, refused } from '../../base/errors.ts';
import { check, L2_MAX, text16 } from '../../codec/primitives.ts';
import {
  addMembers,
  createPolicy as createPolicyRow,
  OWNER,
  RECIPIENT,
} from '../../ledger/policies.ts';
import { atomicBadge } from '../fields/extensions.ts';
import { members } from '../fields/policy-members.ts';
import { fee, feeAssetId, senderPublicKey, timestamp } from '../fields/shared.ts';
import { feature } from '../rules/features.ts';
import { strangersIn } from '../rules/policy-rules.ts';
import { transaction } from '../transaction.ts';

const NAME_CHARS_MAX = 100;

const policyName = check(
  text16(),
  ({ length }) =>
    length > NAME_CHARS_MAX ? apiError('Invalid', 'policy name is too long') : undefined,
  { maxLength: NAME_CHARS_MAX },
);

const description = text16(L2_MAX - 1, () => apiError('Invalid', 'policy description is too long'));

const first = [
  'senderPublicKey',
  'policyName',
  'description',
  'recipients',
  'owners',
  'timestamp',
  'fee',
];
const second = [...first, 'feeAssetId'];

export const createPolicy = transaction({
  type: 112,
  name: 'CreatePolicyTransaction',
  key: 'create-policy',
  doc: 'Creates an access group.',
  fields: {
    senderPublicKey,
    policyName,
    description,
    recipients: members,
    owners: members,
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
  fee: 100_000_000n,
  apply({ fields, id, sender }, ledger, block) {
    const { policyName: name, description: about, recipients, owners } = fields;
    if (owners.length === 0) throw refused('Policy without owners is invalid');
    const mayBeAnybody = block.features.has(feature.policyForOthers);
    if (!mayBeAnybody && !owners.some((owner) => equal(owner, sender))) {
      throw refused(`Sender '${ledger.scheme.addressToText(sender)}' is not owner for policy`);
    }
    const strangers = strangersIn(ledger, recipients);
    if (strangers.length > 0) {
      throw refused(`Recipients [${strangers.join('; ')}] is not registered in network`);
    }
    createPolicyRow(ledger, id, { name, description: about });
    addMembers(ledger, id, OWNER, owners);
    addMembers(ledger, id, RECIPIENT, recipients);
  },
});
