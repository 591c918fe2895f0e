/**
 * Gives a role to an account or takes it away (transactions.md#proof-style).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | target 26 or alias | timestamp 8 | fee 8
 *       | opType 1 | role 1 | timestamp 8 again | dueTimestamp 9
 *   v2  badge at the end
 */
import { refused } from '../../base/errors.ts';
import { atomicBadge } from '../fields/extensions.ts';
import {
  dueTimestamp,
  numberOf,
  type OpType,
  opType,
  type Role,
  role,
} from '../fields/permission.ts';
import { recipient } from '../fields/recipient.ts';
import { fee, senderPublicKey, timestamp } from '../fields/shared.ts';
import { feature } from '../rules/features.ts';
import { keepingAMiner } from '../rules/last-miner.ts';
import { guardChange, guardTarget, recordBounded } from '../rules/permit-rules.ts';
import { resolve, resolvedOne } from '../rules/resolve-recipient.ts';
import type { BlockContext } from '../transaction.ts';
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
  apply({ fields, timestamp: time }, ledger, block) {
    guardTerms(fields, block);
    const target = resolve(ledger, fields.target);
    const op = {
      role: numberOf(fields.role),
      timestamp: time,
      add: fields.opType === 'add',
      due: fields.dueTimestamp,
    };
    guardTarget(ledger, target, op.role, block);
    guardChange(ledger, target, op, block.timestamp);
    keepingAMiner(ledger, target, block, () => recordBounded(ledger, target, op, block));
  },
  involved: ({ fields }, ledger) => resolvedOne(ledger, fields.target),
});

interface Terms {
  readonly opType: OpType;
  readonly role: Role;
  readonly dueTimestamp: number | undefined;
}

function guardTerms(terms: Terms, block: BlockContext): void {
  const due = terms.dueTimestamp;
  if (terms.opType === 'remove' && due !== undefined) {
    throw refused('Due date should not be defined for PermitTransaction with OpType Remove');
  }
  if (due !== undefined && due <= block.timestamp) {
    throw refused('Cannot add permission transaction that is already expired');
  }
  if (terms.role === 'sender' && !block.rules.senderRoleEnabled) {
    throw refused(`The role 'Sender' is not allowed by network parameters`);
  }
  if (terms.role === 'contract_validator' && !block.features.has(feature.contractValidation)) {
    throw refused(`The role 'ContractValidator' is not allowed by network parameters`);
  }
}
