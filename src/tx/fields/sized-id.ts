/**
 * Ids of 32 bytes after a length, those of contracts and policies (transactions.md#proof-style).
 */

import { apiError } from '../../base/errors.ts';
import { ID_BYTES } from '../../base/sizes.ts';
import { type Codec, CodecError } from '../../codec/codec.ts';
import { bytes16, L2_MAX, mismatch, type Refuse } from '../../codec/primitives.ts';
import { base58, shown } from '../../codec/text.ts';

/** L2 around exactly 32 bytes; `refuse` makes the refusal of a wrong id. */
function sizedId(refuse: Refuse): Codec<Uint8Array> {
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

/** A hash in Base58. */
export const base58Hash = sizedId((reason) => apiError('InvalidHash', reason));

/** Id of the transaction that made the contract; code 600. */
export const contractId = sizedId((_, text) => apiError('ContractNotFound', shown(text)));

/** Id of the transaction that made the policy. */
export const policyId = sizedId((_, text) =>
  apiError('Invalid', `Failed to decode policyId: '${shown(text)}'`),
);
