/**
 * Makes a node a participant in the genesis block (transactions.md#proof-style).
 *
 *   type 1 | targetPublicKey 32 | timestamp 8                                        41 bytes
 *
 * Signature and id are the doubled hash of the bytes.
 */
import { concat } from '../../base/bytes.ts';
import { publicKey, timestamp } from '../fields/shared.ts';
import { enrol } from '../rules/participant-rules.ts';
import { transaction } from '../transaction.ts';

export const genesisRegisterNode = transaction({
  type: 110,
  name: 'GenesisRegisterNodeTransaction',
  key: 'genesis-register-node',
  doc: 'Participant of the network in the genesis block.',
  fields: { targetPublicKey: publicKey, timestamp },
  layouts: [{ version: 1, frame: 'genesis', fields: ['targetPublicKey', 'timestamp'] }],
  fee: undefined,
  internal: true,
  versionless: true,
  id(_values, body, scheme) {
    const hash = scheme.fastHash(body);
    return concat(hash, hash);
  },
  accounts: { target: 'targetPublicKey' },
  apply: ({ fields }, ledger, block) =>
    enrol(ledger, { publicKey: fields.targetPublicKey, nodeName: '', height: block.height }, block),
  involved: ({ fields }, ledger) => [ledger.scheme.addressOf(fields.targetPublicKey)],
});
