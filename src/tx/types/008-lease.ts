/**
 * Leases an amount of the native token to a miner (transactions.md#signature-style,
 * transactions.md#proof-style).
 *
 *   v1  type 1 | senderPublicKey 32 | recipient 26 or alias | amount 8 | fee 8 | timestamp 8
 *   v2  type 1 | version 1 | leased asset 1 (always 00) | fields of v1
 *   v3  badge at the end
 */
import { equal } from '../../base/bytes.ts';
import { refused } from '../../base/errors.ts';
import { add } from '../../base/int.ts';
import { type Codec, CodecError } from '../../codec/codec.ts';
import { accountOf, available } from '../../ledger/accounts.ts';
import { beginLease } from '../../ledger/leases.ts';
import { atomicBadge } from '../fields/extensions.ts';
import { recipient } from '../fields/recipient.ts';
import { fee, NATIVE, positive, senderPublicKey, timestamp } from '../fields/shared.ts';
import { feature } from '../rules/features.ts';
import { resolve, resolvedOne } from '../rules/resolve-recipient.ts';
import { account } from '../scripts/record-values.ts';
import { transaction } from '../transaction.ts';

/** A reserved field for an asset: always one zero byte, and no member in JSON. */
const noAsset: Codec<undefined> = {
  flat: true,
  optional: true,
  write: (out) => out.u8(0),
  read(src) {
    if (src.u8() !== 0) throw new CodecError('bytes', 'leasing assets is not supported');
    return undefined;
  },
  toJson: () => ({}),
  fromJson: () => undefined,
  schema: {},
};

const first = ['senderPublicKey', 'recipient', 'amount', 'fee', 'timestamp'];
const second = ['leasedAsset', ...first];

export const lease = transaction({
  type: 8,
  name: 'LeaseTransaction',
  key: 'lease',
  doc: 'Leases tokens to an address or alias.',
  fields: {
    leasedAsset: noAsset,
    senderPublicKey,
    recipient,
    amount: positive(NATIVE),
    fee,
    timestamp,
    atomicBadge,
  },
  layouts: [
    { version: 1, frame: 'signedLast', fields: first },
    { version: 2, frame: 'proven', fields: second, feature: feature.smartAccounts },
    { version: 3, frame: 'proven', fields: [...second, 'atomicBadge'], feature: feature.atomic },
  ],
  fee: 1_000_000n,
  check: ({ fields }) => {
    add(fields.amount, fields.fee);
  },
  record: ({ fields }) => ({ amount: fields.amount, recipient: account(fields.recipient) }),
  apply({ fields, id, sender }, ledger, block) {
    const { amount } = fields;
    const recipientAddress = resolve(ledger, fields.recipient);
    if (equal(recipientAddress, sender)) {
      const self = ledger.scheme.addressToText(sender);
      throw refused(`Cannot lease to self. Sender address ${self} equals to recipient address`);
    }
    const account = accountOf(ledger, sender);
    if (available(account) < amount) {
      const { balance, leasedOut } = account;
      throw refused(`Cannot lease more than own: Balance:${balance}, already leased: ${leasedOut}`);
    }
    beginLease(ledger, id, { sender, recipient: recipientAddress, amount, height: block.height });
  },
  involved: ({ fields }, ledger) => resolvedOne(ledger, fields.recipient),
});
