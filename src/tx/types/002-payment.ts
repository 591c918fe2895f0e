/**
 * The oldest way to move the native token (transactions.md#types-and-versions). Read and shown,
 * never accepted.
 *
 *   type 1 | timestamp 8 | senderPublicKey 32 | recipient 26 | amount 8 | fee 8 | signature 64
 *
 * The signature signs three zero bytes and the body. It is also the id.
 */
import { add } from '../../base/int.ts';
import { address, NATIVE, positive, senderPublicKey, timestamp } from '../fields/shared.ts';
import { transaction } from '../transaction.ts';

export const payment = transaction({
  type: 2,
  name: 'PaymentTransaction',
  key: 'payment',
  doc: 'Legacy transfer of the native token.',
  fields: {
    timestamp,
    senderPublicKey,
    recipient: address,
    amount: positive(NATIVE),
    fee: positive(NATIVE),
  },
  layouts: [
    {
      version: 1,
      frame: 'signedLast',
      fields: ['timestamp', 'senderPublicKey', 'recipient', 'amount', 'fee'],
      signedPrefix: new Uint8Array(3),
    },
  ],
  fee: undefined,
  internal: true,
  versionless: true,
  id: (_values, _body, _chain, [signature]) => signature!,
  check: ({ fields }) => {
    add(fields.amount, fields.fee);
  },
});
