/**
 * The signature or proofs of a transaction (transactions.md#body-full-bytes-id).
 *
 *   signature   64 bytes
 *   proofs      01 | count 2 | (length 2 | bytes)*     at most 8, at most 64 bytes each
 */

import { apiError } from '../../base/errors.ts';
import { SIGNATURE_BYTES } from '../../base/sizes.ts';
import { type Codec, CodecError } from '../../codec/codec.ts';
import { bytes, mismatch } from '../../codec/primitives.ts';
import { base58 } from '../../codec/text.ts';

export const PROOFS_MAX = 8;
export const PROOF_BYTES_MAX = 64;
const PROOFS_VERSION = 1;

export const signature: Codec<Uint8Array> = bytes(SIGNATURE_BYTES, base58, () =>
  apiError('Invalid', 'invalid.signature'),
);

export const proofs: Codec<readonly Uint8Array[]> = {
  write(out, items) {
    out.u8(PROOFS_VERSION);
    out.u16(items.length);
    for (let i = 0; i < items.length; i++) {
      const proof = items[i]!;
      out.u16(proof.length);
      out.bytes(proof);
    }
  },
  read(src) {
    const version = src.u8();
    if (version !== PROOFS_VERSION) throw new CodecError('bytes', `proofs version ${version}`);
    const count = src.u16();
    if (count > PROOFS_MAX) throw tooMany('bytes', count);
    // A list that grows has room for seventeen.
    const items = new Array<Uint8Array>(count);
    for (let i = 0; i < count; i++) {
      const length = src.u16();
      if (length > PROOF_BYTES_MAX) throw invalidProof('bytes', `${length} bytes`);
      items[i] = src.bytes(length);
    }
    return items;
  },
  toJson(items) {
    const texts: string[] = [];
    for (let i = 0; i < items.length; i++) texts.push(base58.encode(items[i]!));
    return texts;
  },
  print(src) {
    src.u8();
    const count = src.u16();
    let text = '[';
    for (let i = 0; i < count; i++) {
      text += `${i === 0 ? '"' : ',"'}${base58.encode(src.bytes(src.u16()))}"`;
    }
    return `${text}]`;
  },
  fromJson(json, path) {
    if (!Array.isArray(json)) throw mismatch(path, json, 'jsarray');
    if (json.length > PROOFS_MAX) throw tooMany(path, json.length);
    return json.map((item, i) => proofFromJson(item, `${path}[${i}]`));
  },
  schema: { type: 'array', maxItems: PROOFS_MAX, items: base58.schema },
};

function proofFromJson(json: unknown, path: string): Uint8Array {
  if (typeof json !== 'string') throw mismatch(path, json, 'jsstring');
  let reason = `more than ${PROOF_BYTES_MAX} bytes`;
  try {
    const proof = base58.decode(json, PROOF_BYTES_MAX);
    if (proof.length <= PROOF_BYTES_MAX) return proof;
  } catch (cause) {
    reason = (cause as Error).message;
  }
  throw invalidProof(path, reason);
}

function invalidProof(path: string, reason: string): CodecError {
  return new CodecError(path, reason, apiError('Invalid', `invalid proof: ${reason}`));
}

function tooMany(path: string, count: number): CodecError {
  const reason = `Too many proofs (${count}), only ${PROOFS_MAX} allowed`;
  return new CodecError(path, reason, apiError('Invalid', reason));
}
