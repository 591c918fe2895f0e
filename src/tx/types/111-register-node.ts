/**
 * Makes a node a participant of the network or ends that (transactions.md#proof-style).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | targetPubKey 32 | nodeName 2+n | opType 1
 *       | timestamp 8 | fee 8
 *   v2  badge at the end
 */
import { apiError, refused } from '../../base/errors.ts';
import type { Codec } from '../../codec/codec.ts';
import { check, text16 } from '../../codec/primitives.ts';
import { nullable } from '../../codec/struct.ts';
import { base58 } from '../../codec/text.ts';
import { isLastParticipant, isParticipant } from '../../ledger/participants.ts';
import { atomicBadge } from '../fields/extensions.ts';
import { opType } from '../fields/permission.ts';
import { fee, publicKey, senderPublicKey, timestamp } from '../fields/shared.ts';
import { feature } from '../rules/features.ts';
import { keepingAMiner } from '../rules/last-miner.ts';
import { requireNoVoter } from '../rules/leaving-voters.ts';
import { enrol, strike } from '../rules/participant-rules.ts';
import { transaction } from '../transaction.ts';

const NAME_CHARS_MAX = 99;

const someName = check(text16(), (value) =>
  value.length > NAME_CHARS_MAX
    ? apiError('Invalid', 'NodeName length should be less than 100')
    : undefined,
);

/** Empty where there is no name, which is null in JSON. */
const nodeName: Codec<string> = {
  ...someName,
  optional: true,
  toJson: (value) => (value === '' ? null : value),
  print: undefined,
  fromJson: (json, path, scheme) =>
    json === undefined || json === null ? '' : someName.fromJson(json, path, scheme),
  schema: nullable({ type: 'string', maxLength: NAME_CHARS_MAX }),
};

const first = ['senderPublicKey', 'targetPubKey', 'nodeName', 'opType', 'timestamp', 'fee'];

export const registerNode = transaction({
  type: 111,
  name: 'RegisterNodeTransaction',
  key: 'register-node',
  doc: 'Adds or removes a participant of the network.',
  fields: {
    senderPublicKey,
    targetPubKey: publicKey,
    nodeName,
    opType,
    timestamp,
    fee,
    atomicBadge,
  },
  layouts: [
    { version: 1, frame: 'proven', fields: first },
    { version: 2, frame: 'proven', fields: [...first, 'atomicBadge'], feature: feature.atomic },
  ],
  fee: 1_000_000n,
  roles: ['connection_manager'],
  check: ({ fields }) => {
    if (fields.opType === 'add' && fields.nodeName === '') {
      throw apiError('Invalid', 'NodeName should not be empty');
    }
  },
  accounts: { target: 'targetPubKey' },
  apply({ fields }, ledger, block) {
    const { targetPubKey: key, nodeName: name } = fields;
    const target = ledger.scheme.addressOf(key);
    const account = `Account '${base58.encode(key)}'`;
    const isKnown = isParticipant(ledger, target);
    if (fields.opType === 'add') {
      if (isKnown) throw refused(`${account} already presented in blockchain`);
      enrol(ledger, { publicKey: key, nodeName: name, height: block.height }, block);
      return;
    }
    if (!isKnown) {
      throw refused(`${account} is not present in blockchain, therefore not allowed to remove it`);
    }
    if (isLastParticipant(ledger)) {
      throw refused(`${account} cannot be removed because no participant would be left`);
    }
    requireNoVoter(ledger, target, block);
    keepingAMiner(ledger, target, block, () => strike(ledger, target, block));
  },
  involved: ({ fields }, ledger) => [ledger.scheme.addressOf(fields.targetPubKey)],
});
