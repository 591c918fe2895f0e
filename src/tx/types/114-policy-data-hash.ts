/**
 * Registers the hash of data of an access group; the node that received the data makes it
 * (transactions.md#proof-style, transactions.md#types-and-versions).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | dataHash 2+32 | policyId 2+32 | timestamp 8
 *       | fee 8
 *   v2  feeAssetId at the end; v3 also badge
 */
import { equal } from '../../base/bytes.ts';
import { apiError, refused } from '../../base/errors.ts';
import { SHA256_HEX } from '../../base/hex.ts';
import { isObject } from '../../base/json/json.ts';
import { type Codec, CodecError } from '../../codec/codec.ts';
import { base58, hex } from '../../codec/text.ts';
import { bindHash, boundHash, isMember, RECIPIENT } from '../../ledger/policies.ts';
import { atomicBadge } from '../fields/extensions.ts';
import { fee, feeAssetId, senderPublicKey, timestamp } from '../fields/shared.ts';
import { base58Hash, policyId } from '../fields/sized-id.ts';
import { feature } from '../rules/features.ts';
import { requirePolicy } from '../rules/policy-rules.ts';
import { transaction } from '../transaction.ts';

/**
 * SHA-256 of the data. Answers show it twice: `hash` in hexadecimal and `dataHash` in Base58.
 * Requests contain either one, in either form, or both where they agree.
 */
const dataHash: Codec<Uint8Array> = {
  ...base58Hash,
  flat: true,
  toJson: (value, scheme) => ({
    hash: hex.encode(value),
    dataHash: base58Hash.toJson(value, scheme),
  }),
  print: undefined,
  fromJson(json, path, scheme) {
    const members = isObject(json) ? json : {};
    const read = (text: unknown): Uint8Array =>
      typeof text === 'string' && SHA256_HEX.test(text)
        ? hex.decode(text, 32)
        : base58Hash.fromJson(text, `${path}.dataHash`, scheme);
    const { dataHash: first, hash: second } = members;
    const value = read(first ?? second);
    // One of them would be signed, and nobody would see which.
    if (first != null && second != null && !equal(value, read(second))) {
      const reason = 'hash and dataHash contradict each other';
      throw new CodecError(path, reason, apiError('Invalid', reason));
    }
    return value;
  },
  schema: {
    properties: {
      hash: { ...hex.schema, description: 'the hash in hexadecimal' },
      dataHash: { ...base58Hash.schema, description: 'the same 32 bytes in Base58' },
    },
  },
};

const first = ['senderPublicKey', 'dataHash', 'policyId', 'timestamp', 'fee'];
const second = [...first, 'feeAssetId'];

export const policyDataHash = transaction({
  type: 114,
  name: 'PolicyDataHashTransaction',
  key: 'policy-data-hash',
  doc: 'Registers the hash of data of an access group.',
  fields: {
    senderPublicKey,
    dataHash,
    policyId,
    timestamp,
    fee,
    feeAssetId,
    atomicBadge,
  },
  layouts: [
    { version: 1, frame: 'proven', fields: first },
    { version: 2, frame: 'proven', fields: second, feature: feature.sponsoredFees },
    { version: 3, frame: 'proven', fields: [...second, 'atomicBadge'], feature: feature.atomic },
  ],
  fee: 5_000_000n,
  apply({ fields, id: transactionId, sender }, ledger) {
    const { policyId: id, dataHash: hash } = fields;
    requirePolicy(ledger, id);
    if (boundHash(ledger, id, hash) !== undefined) {
      throw apiError('PolicyDataExists', base58.encode(hash));
    }
    if (!isMember(ledger, id, RECIPIENT, sender)) {
      throw refused(`Sender '${ledger.scheme.addressToText(sender)}' is not in policy recipients`);
    }
    bindHash(ledger, id, hash, { transaction: transactionId, sender });
  },
});
