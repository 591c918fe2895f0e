/**
 * Creates an asset and gives its whole quantity to the sender (transactions.md#signature-style,
 * transactions.md#proof-style).
 *
 *   v1  type 1 | senderPublicKey 32 | name 2+n | description 2+n | quantity 8 | decimals 1
 *       | reissuable 1 | fee 8 | timestamp 8
 *   v2  type 1 | version 1 | chainId 1 | fields of v1 | script 1 or 3+n
 *   v3  badge before script
 */
import { utf8 } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import { bool, check, text16, u8, utf8ToBytes } from '../../codec/primitives.ts';
import { base58 } from '../../codec/text.ts';
import { creditAsset } from '../../ledger/assets.ts';
import { assets } from '../../ledger/tables.ts';
import { atomicBadge } from '../fields/extensions.ts';
import { chainId, fee, positive, script, senderPublicKey, timestamp } from '../fields/shared.ts';
import { feature, requireFeature } from '../rules/features.ts';
import { optional } from '../scripts/record-values.ts';
import { transaction } from '../transaction.ts';

const NAME_BYTES_MIN = 4;
const NAME_BYTES_MAX = 16;
const DESCRIPTION_BYTES_MAX = 1000;
const DECIMALS_MAX = 8;

const name = check(text16(), (value) => {
  const { length } = utf8ToBytes(value);
  return length < NAME_BYTES_MIN || length > NAME_BYTES_MAX ? apiError('InvalidName') : undefined;
});

const decimals = check(
  u8,
  (value) => (value > DECIMALS_MAX ? apiError('TooBigSequence', `decimals ${value}`) : undefined),
  { maximum: DECIMALS_MAX },
);

const first = [
  'senderPublicKey',
  'name',
  'description',
  'quantity',
  'decimals',
  'reissuable',
  'fee',
  'timestamp',
];

export const issue = transaction({
  type: 3,
  name: 'IssueTransaction',
  key: 'issue',
  doc: 'Creates an asset.',
  fields: {
    chainId,
    senderPublicKey,
    name,
    description: text16(DESCRIPTION_BYTES_MAX, (reason) => apiError('TooBigSequence', reason)),
    quantity: positive('assets'),
    decimals,
    reissuable: bool,
    fee,
    timestamp,
    atomicBadge,
    script,
  },
  layouts: [
    { version: 1, frame: 'signedFirst', fields: first },
    {
      version: 2,
      frame: 'proven',
      fields: ['chainId', ...first, 'script'],
      feature: feature.smartAccounts,
    },
    {
      version: 3,
      frame: 'proven',
      fields: ['chainId', ...first, 'atomicBadge', 'script'],
      feature: feature.atomic,
    },
  ],
  fee: 100_000_000n,
  roles: ['issuer'],
  newScript: ({ fields }) => fields.script,
  derived: (tx) => ({ assetId: base58.encode(tx.id) }),
  derivedSchema: { assetId: base58.schema },
  record: ({ fields }) => ({
    quantity: fields.quantity,
    name: utf8(fields.name),
    description: utf8(fields.description),
    reissuable: fields.reissuable,
    decimals: BigInt(fields.decimals),
    script: optional(fields.script),
  }),
  apply(tx, ledger, block) {
    const { fields, id, sender } = tx;
    if (fields.script !== undefined) requireFeature(feature.smartAssets, tx.def.name, block);
    ledger.set(assets, id, {
      issuer: sender,
      issuerPublicKey: tx.senderPublicKey,
      name: fields.name,
      description: fields.description,
      decimals: fields.decimals,
      reissuable: fields.reissuable,
      quantity: fields.quantity,
      script: fields.script,
      sponsorFee: undefined,
      issueHeight: block.height,
      issueTimestamp: tx.timestamp,
    });
    creditAsset(ledger, sender, id, fields.quantity);
  },
});
