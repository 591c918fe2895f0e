/** Byte strings in the form of transactions that this release refuses. */
import { concat } from '../../src/base/bytes.ts';
import { type ChainScheme, Writer } from '../../src/codec/codec.ts';
import { proofs } from '../../src/tx/fields/proofs.ts';

export interface OversizedPolicy {
  readonly publicKey: Uint8Array;
  /** Named over and over as recipient and as owner. */
  readonly member: Uint8Array;
  readonly members: number;
  readonly timestamp: number;
  readonly fee: bigint;
  readonly sign: (message: Uint8Array) => Uint8Array;
}

/** Full bytes of a type 112 of version 1, of any size. */
export function policyBytes(of: OversizedPolicy, scheme: ChainScheme): Uint8Array {
  const out = new Writer(scheme);
  for (const byte of [112, 1]) out.u8(byte);
  out.bytes(of.publicKey);
  out.u16(0);
  out.u16(0);
  out.i32(of.members);
  for (let i = 0; i < of.members; i++) out.bytes(of.member);
  out.i32(1);
  out.bytes(of.member);
  out.u53(of.timestamp);
  out.i64(of.fee);
  const body = out.take();
  proofs.write(out, [of.sign(body)]);
  return concat(Uint8Array.of(0), body, out.take());
}
