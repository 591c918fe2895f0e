/**
 * Ends a lease of the sender (transactions.md#signature-style, transactions.md#proof-style).
 *
 *   v1  type 1 | senderPublicKey 32 | fee 8 | timestamp 8 | leaseId 32
 *   v2  type 1 | version 1 | chainId 1 | fields of v1
 *   v3  badge at the end
 */
import { equal } from '../../base/bytes.ts';
import { refused } from '../../base/errors.ts';
import { endLease, leaseOf } from '../../ledger/leases.ts';
import { atomicBadge } from '../fields/extensions.ts';
import { chainId, fee, leaseId, senderPublicKey, timestamp } from '../fields/shared.ts';
import { feature } from '../rules/features.ts';
import { transaction } from '../transaction.ts';

const first = ['senderPublicKey', 'fee', 'timestamp', 'leaseId'];
const second = ['chainId', ...first];

export const leaseCancel = transaction({
  type: 9,
  name: 'LeaseCancelTransaction',
  key: 'lease-cancel',
  doc: 'Ends a lease.',
  fields: { chainId, senderPublicKey, fee, timestamp, leaseId, atomicBadge },
  layouts: [
    { version: 1, frame: 'signedLast', fields: first },
    { version: 2, frame: 'proven', fields: second, feature: feature.smartAccounts },
    { version: 3, frame: 'proven', fields: [...second, 'atomicBadge'], feature: feature.atomic },
  ],
  fee: 1_000_000n,
  /** `txId` is another name of the lease id. */
  normalize: (json) =>
    json['leaseId'] === undefined && json['txId'] !== undefined
      ? { ...json, leaseId: json['txId'] }
      : json,
  record: ({ fields }) => ({ leaseId: fields.leaseId }),
  apply({ fields, sender }, ledger) {
    const found = leaseOf(ledger, fields.leaseId);
    if (found === undefined) throw refused('Related LeaseTransaction not found');
    if (!found.active) throw refused('Cannot cancel already cancelled lease');
    if (!equal(found.sender, sender)) {
      throw refused('LeaseTransaction was leased by other sender');
    }
    endLease(ledger, fields.leaseId, found);
  },
  involved({ fields }, ledger) {
    const found = leaseOf(ledger, fields.leaseId);
    return found === undefined ? [] : [found.recipient];
  },
});
