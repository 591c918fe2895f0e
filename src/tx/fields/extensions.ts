/**
 * Fields of newer versions, which need features that are never active here, except 101 and 120
 * (transactions.md#types-and-versions). They have bytes and JSON nevertheless, so that unmodified
 * clients get a clear answer.
 *
 *   badge              00 | 01 00 | 01 01 address 26
 *   validationPolicy   00 any | 01 majority | 02 majority_with_one_of, count 2, addresses
 *   apiVersion         major 2 | minor 2
 *   payments           count 2, (asset 1 or 33 | amount 8)*
 */

import { apiError } from '../../base/errors.ts';
import { isObject } from '../../base/json/json.ts';
import { ADDRESS_BYTES, SIGNATURE_BYTES } from '../../base/sizes.ts';
import { type Codec, CodecError } from '../../codec/codec.ts';
import { mismatch } from '../../codec/primitives.ts';
import { list16, option, since, struct } from '../../codec/struct.ts';
import { shown } from '../../codec/text.ts';
import { EXECUTED_TX_BYTES_MAX, mostItems } from '../size.ts';
import { signature } from './proofs.ts';
import { address, optionalAssetId, positive, publicKey } from './shared.ts';

export interface AtomicBadge {
  readonly trustedSender: Uint8Array | undefined;
}

export const atomicBadge = since(option(struct({ trustedSender: option(address) })));

const POLICY_KINDS = ['any', 'majority', 'majority_with_one_of'] as const;

export type ValidationPolicy =
  | { readonly type: 'any' | 'majority' }
  | { readonly type: 'majority_with_one_of'; readonly addresses: readonly Uint8Array[] };

const addresses = list16(address, mostItems(ADDRESS_BYTES));

const somePolicy: Codec<ValidationPolicy> = {
  write(out, value) {
    out.u8(POLICY_KINDS.indexOf(value.type));
    if (value.type === 'majority_with_one_of') addresses.write(out, value.addresses);
  },
  read(src) {
    const byte = src.u8();
    const type = POLICY_KINDS[byte];
    if (type === undefined) throw new CodecError('bytes', `unknown validation policy ${byte}`);
    return type === 'majority_with_one_of' ? { type, addresses: addresses.read(src) } : { type };
  },
  toJson: (value, scheme) =>
    value.type === 'majority_with_one_of'
      ? { type: value.type, addresses: addresses.toJson(value.addresses, scheme) }
      : { type: value.type },
  fromJson(json, path, scheme) {
    if (!isObject(json)) throw mismatch(path, json, 'jsobject');
    const type = POLICY_KINDS.find((kind) => kind === json['type']);
    if (type === undefined) {
      const reason = 'unknown validation policy';
      throw new CodecError(`${path}.type`, reason, apiError('Invalid', reason));
    }
    if (type !== 'majority_with_one_of') return { type };
    return { type, addresses: addresses.fromJson(json['addresses'], `${path}.addresses`, scheme) };
  },
  schema: {
    type: 'object',
    properties: { type: { enum: POLICY_KINDS }, addresses: addresses.schema },
    required: ['type'],
  },
};

export const validationPolicy = since(somePolicy);

const VERSION = /^(\d{1,5})\.(\d{1,5})$/;
const U16_MAX = 65535;

const someApiVersion: Codec<string> = {
  write(out, value) {
    const [, major, minor] = VERSION.exec(value) ?? [];
    out.u16(Number(major));
    out.u16(Number(minor));
  },
  read: (src) => `${src.u16()}.${src.u16()}`,
  toJson: (value) => value,
  fromJson(json, path) {
    if (typeof json !== 'string') throw mismatch(path, json, 'jsstring');
    const [, major, minor] = VERSION.exec(json) ?? [];
    if (major === undefined || Number(major) > U16_MAX || Number(minor) > U16_MAX) {
      throw new CodecError(
        path,
        'not a version',
        apiError('Invalid', `Bad version '${shown(json)}'`),
      );
    }
    return `${Number(major)}.${Number(minor)}`;
  },
  schema: { type: 'string', pattern: VERSION.source },
};

export const apiVersion = since(someApiVersion);

const payment = struct({ assetId: optionalAssetId, amount: positive('assets') });
const PAYMENTS_MAX = 10;

export const payments = since(
  list16(payment, PAYMENTS_MAX, () => apiError('Invalid', `more than ${PAYMENTS_MAX} payments`)),
);

/** The shortest keys have 32 bytes. */
const VALIDATIONS_MAX = mostItems(32 + SIGNATURE_BYTES, EXECUTED_TX_BYTES_MAX);

export const validationProofs = since(
  list16(struct({ validatorPublicKey: publicKey, signature }), VALIDATIONS_MAX),
);
