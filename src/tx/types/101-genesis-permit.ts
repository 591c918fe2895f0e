/**
 * Gives a role to an account in the genesis block (transactions.md#proof-style).
 *
 *   type 1 | target 26 | role 1 | timestamp 8                                        36 bytes
 *
 * Signature and id are a doubled hash in which the timestamp comes before the role.
 */
import { concat } from '../../base/bytes.ts';
import { numberOf, role } from '../fields/permission.ts';
import { address, timestamp } from '../fields/shared.ts';
import { recordBounded } from '../rules/permit-rules.ts';
import { transaction } from '../transaction.ts';

/** Position of the role in the bytes. */
const ROLE_AT = 27;

export const genesisPermit = transaction({
  type: 101,
  name: 'GenesisPermitTransaction',
  key: 'genesis-permit',
  doc: 'Role of an account in the genesis block.',
  fields: { target: address, role, timestamp },
  layouts: [{ version: 1, frame: 'genesis', fields: ['target', 'role', 'timestamp'] }],
  fee: undefined,
  internal: true,
  versionless: true,
  id(_values, body, scheme) {
    const hash = scheme.fastHash(
      concat(
        body.subarray(0, ROLE_AT),
        body.subarray(ROLE_AT + 1),
        body.subarray(ROLE_AT, ROLE_AT + 1),
      ),
    );
    return concat(hash, hash);
  },
  apply({ fields, timestamp: time }, ledger, block) {
    const op = { role: numberOf(fields.role), timestamp: time, add: true, due: undefined };
    recordBounded(ledger, fields.target, op, block);
  },
  involved: ({ fields }) => [fields.target],
});
