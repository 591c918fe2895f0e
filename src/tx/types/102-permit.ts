/**
 * Gives a role to an account or takes it away (transactions.md §7).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | target 26 or alias | timestamp 8 | fee 8
 *       | opType 1 | role 1 | timestamp 8 again | dueTimestamp 9
 *   v2  badge at the end
 */
import { atomicBadge, feature } from '../extensions.ts';
import { fee, senderPublicKey, timestamp } from '../fields.ts';
import { dueTimestamp, opType, role } from '../permission.ts';
import { recipient } from '../recipient.ts';
import { transaction } from '../transaction.ts';

const first = [
  'senderPublicKey',
  'target',
  'timestamp',
  'fee',
  'opType',
  'role',
  'timestamp',
  'dueTimestamp',
];

export const permit = transaction({
  type: 102,
  name: 'PermitTransaction',
  key: 'permit',
  doc: 'Gives or takes a role.',
  fields: {
    senderPublicKey,
    target: recipient,
    timestamp,
    fee,
    opType,
    role,
    dueTimestamp,
    atomicBadge,
  },
  layouts: [
    { version: 1, frame: 'proven', fields: first },
    { version: 2, frame: 'proven', fields: [...first, 'atomicBadge'], feature: feature.atomic },
  ],
  fee: 1_000_000n,
  roles: ({ fields }) =>
    fields.role === 'banned' ? ['permissioner', 'blacklister'] : ['permissioner'],
});
