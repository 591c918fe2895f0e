/** Fields of contract and policy types (transactions.md#proof-style, contracts.md#transactions). */

import { apiError } from '../../base/errors.ts';
import { ADDRESS_BYTES, ID_BYTES } from '../../base/sizes.ts';
import type { Codec } from '../../codec/codec.ts';
import { CodecError } from '../../codec/codec.ts';
import { bytes16, check, L2_MAX, mismatch, type Refusal, text16 } from '../../codec/primitives.ts';
import { list32 } from '../../codec/struct.ts';
import { base58, shown } from '../../codec/text.ts';
import { mostItems } from '../size.ts';
import { address } from './shared.ts';

const NAME_CHARS_MAX = 200;

const between = (length: number): boolean => length >= 1 && length <= NAME_CHARS_MAX;

export const image: Codec<string> = check(
  text16(),
  (value) =>
    between(value.length)
      ? undefined
      : apiError(
          'Invalid',
          `Incorrect image length: ${value.length}. Length must be between 1 and ${NAME_CHARS_MAX}`,
        ),
  { minLength: 1, maxLength: NAME_CHARS_MAX },
);

const SHA256_HEX = /^[0-9a-fA-F]{64}$/;

/** SHA-256 of the image as text; upper and lower case are different bytes, both legal. */
export const imageHash: Codec<string> = check(
  text16(),
  (value) =>
    SHA256_HEX.test(value)
      ? undefined
      : apiError('Invalid', `Image hash string ${shown(value)} is not valid SHA-256 hex string`),
  { pattern: SHA256_HEX.source },
);

export const contractName: Codec<string> = check(
  text16(),
  (value) =>
    between(value.length)
      ? undefined
      : apiError(
          'Invalid',
          `Incorrect contract name length: ${value.length}. ` +
            `Length must be between 1 and ${NAME_CHARS_MAX}`,
        ),
  { minLength: 1, maxLength: NAME_CHARS_MAX },
);

/** L2 around exactly 32 bytes; `refuse` names what a bad one means. */
export function sizedId(refuse: Refusal): Codec<Uint8Array> {
  const inner = bytes16(L2_MAX, base58);
  return {
    ...inner,
    read(src) {
      const id = inner.read(src);
      if (id.length !== ID_BYTES) throw wrong('bytes', `expected ${ID_BYTES} bytes`, '');
      return id;
    },
    fromJson(json, path) {
      if (typeof json !== 'string') throw mismatch(path, json, 'jsstring');
      let reason = `expected ${ID_BYTES} bytes`;
      try {
        const id = base58.decode(json, ID_BYTES);
        if (id.length === ID_BYTES) return id;
      } catch (cause) {
        reason = (cause as Error).message;
      }
      throw wrong(path, reason, json);
    },
  };

  function wrong(path: string, reason: string, text: string): CodecError {
    return new CodecError(path, reason, refuse(reason, text));
  }
}

/** Id of the transaction that made the contract; code 600. */
export const contractId = sizedId((_, text) => apiError('ContractNotFound', shown(text)));

/** Id of the transaction that made the policy. */
export const policyId = sizedId((_, text) =>
  apiError('Invalid', `Failed to decode policyId: '${shown(text)}'`),
);

/** Recipients or owners, in the order given; duplicates stay in the bytes. */
export const members: Codec<readonly Uint8Array[]> = {
  ...list32(address, mostItems(ADDRESS_BYTES)),
  itemBytesMin: ADDRESS_BYTES,
};
