/**
 * Gives the first accounts their balances; allowed in the genesis block only
 * (blocks.md#genesis-transactions).
 *
 *   type 1 | timestamp 8 | recipient 26 | amount 8                                    43 bytes
 *
 * It has no sender. Its signature is also its id: a doubled hash over the same fields, with the
 * type in four bytes.
 */
import { concat } from '../../base/bytes.ts';
import { credit } from '../../ledger/accounts.ts';
import { address, NATIVE, notNegative, timestamp } from '../fields/shared.ts';
import { addressRecord } from '../scripts/record-values.ts';
import { transaction } from '../transaction.ts';

const TYPE_AS_I32 = Uint8Array.of(0, 0, 0, 1);

export const genesis = transaction({
  type: 1,
  name: 'GenesisTransaction',
  key: 'genesis',
  doc: 'Initial balance of an account in the genesis block.',
  fields: { timestamp, recipient: address, amount: notNegative(NATIVE) },
  layouts: [{ version: 1, frame: 'genesis', fields: ['timestamp', 'recipient', 'amount'] }],
  fee: undefined,
  internal: true,
  versionless: true,
  id(_values, body, scheme) {
    const hash = scheme.fastHash(concat(TYPE_AS_I32, body.subarray(1)));
    return concat(hash, hash);
  },
  record: ({ fields }) => ({ amount: fields.amount, recipient: addressRecord(fields.recipient) }),
  apply: ({ fields }, ledger) => credit(ledger, fields.recipient, fields.amount),
  involved: ({ fields }) => [fields.recipient],
});
