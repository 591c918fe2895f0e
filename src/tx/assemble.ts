/**
 * Frames: how fields become the full bytes of a transaction and its body
 * (transactions.md#body-full-bytes-id). The body is signed and hashed.
 *
 *   frame         full bytes                                    body
 *   proven        00 | type | version | fields | proofs         type | version | fields
 *   provenFlat    type | version | fields | proofs              type | version | fields
 *   provenZero    00 | type | version | fields | proofs         00 | type | version | fields
 *   signedFirst   type | signature | type | fields              type | fields
 *   signedLast    type | fields | signature                     type | fields
 *   genesis       type | fields                                 type | fields
 */
import { SIGNATURE_BYTES } from '../base/sizes.ts';
import { type ChainScheme, CodecError, type Reader, type Writer } from '../codec/codec.ts';
import { scratch } from '../codec/scratch.ts';
import { type CompiledLayout, compiledLayoutOf, complete, withAbsent } from './compiled-layout.ts';
import { PROOF_BYTES_MAX, PROOFS_MAX, proofs as proofsCodec } from './fields/proofs.ts';
import { guardNewScript } from './scripts/known-scripts.ts';
import { requireSize } from './size.ts';
import type { Fields, Frame, Input, Layout, Tx, TxType, Values } from './transaction.ts';

const NONE = new Uint8Array(0);
const NO_PROOFS: readonly Uint8Array[] = [];

/** True if the frame carries one signature instead of a list of proofs. */
export const isSigned = (frame: Frame): boolean =>
  frame === 'signedFirst' || frame === 'signedLast';

/** Makes a transaction from its values. Throws ApiError where they break a rule of the type. */
export function buildTx<F extends Fields>(
  def: TxType<F>,
  layout: Layout,
  input: Input<F>,
  proofs: readonly Uint8Array[],
  scheme: ChainScheme,
): Tx<F> {
  const compiled = compiledLayoutOf(def, layout);
  return assemble(compiled, complete(compiled, input), proofs, scheme) as unknown as Tx<F>;
}

/** Like `buildTx`, for values that already hold every field of the type. */
export function assemble(...of: Parameters<typeof assembleUnread>): Tx {
  const tx = assembleUnread(...of);
  guardNewScript(tx, of[3]);
  return tx;
}

/** The same for a member of a group, whose new script the pipeline reads. */
export function assembleUnread(
  compiled: CompiledLayout,
  values: Values<Fields>,
  proofs: readonly Uint8Array[],
  scheme: ChainScheme,
): Tx {
  const { def, layout } = compiled;
  const { frame } = layout;
  guardProofs(frame, proofs);
  const out = scratch(scheme);
  if (frame === 'proven') out.u8(0);
  if (frame === 'signedFirst') {
    out.u8(def.type);
    out.bytes(proofs[0]!);
  }
  const start = out.position;
  writeBody(out, compiled, values);
  const end = out.position;
  if (frame === 'signedLast') out.bytes(proofs[0]!);
  else if (frame !== 'genesis' && frame !== 'signedFirst') proofsCodec.write(out, proofs);
  requireSize(def, out.position);
  const bytes = out.take();
  const body = ownBody(compiled, values, scheme) ?? bytes.subarray(start, end);
  const tx = makeTx(compiled, values, bytes, body, proofs, scheme);
  def.check?.(tx, scheme);
  return tx;
}

/** The bytes to sign for values that have no proofs yet. */
export function messageOf(
  compiled: CompiledLayout,
  values: Values<Fields>,
  scheme: ChainScheme,
): Uint8Array {
  const out = scratch(scheme);
  if (compiled.layout.signedPrefix !== undefined) out.bytes(compiled.layout.signedPrefix);
  writeSigned(out, compiled, values);
  return out.take();
}

/** The bytes that the proofs of a transaction sign. */
export function signedBytes(tx: Pick<Tx, 'layout' | 'body'>): Uint8Array {
  const prefix = tx.layout.signedPrefix;
  if (prefix === undefined) return tx.body;
  const bytes = new Uint8Array(prefix.length + tx.body.length);
  bytes.set(prefix);
  bytes.set(tx.body, prefix.length);
  return bytes;
}

/**
 * Reads one transaction whose first bytes have already determined the layout; `id` where it is known.
 * Throws CodecError.
 */
export function readFrame(src: Reader, compiled: CompiledLayout, id?: Uint8Array): Tx {
  const { frame } = compiled.layout;
  const first = src.position;
  let proofs = NO_PROOFS;
  let start = first;
  if (frame === 'proven') start = first + 1;
  else if (frame === 'signedFirst') {
    src.u8();
    proofs = [src.bytes(SIGNATURE_BYTES)];
    start = src.position;
  }
  src.position = start;
  readHeader(src, compiled);
  const values = readFields(src, compiled) as Values<Fields>;
  const body = ownBody(compiled, values, src.scheme) ?? src.since(start);
  if (frame === 'signedLast') proofs = [src.bytes(SIGNATURE_BYTES)];
  else if (frame !== 'genesis' && frame !== 'signedFirst') proofs = proofsCodec.read(src);
  return makeTx(compiled, values, src.since(first), body, proofs, src.scheme, id);
}

/** Undefined where the body is a part of the bytes. */
function ownBody(
  compiled: CompiledLayout,
  values: Values<Fields>,
  scheme: ChainScheme,
): Uint8Array | undefined {
  if (compiled.def.writeBody === undefined) return undefined;
  const out = scratch(scheme);
  writeSigned(out, compiled, values);
  return out.take();
}

function writeSigned(out: Writer, compiled: CompiledLayout, values: Values<Fields>): void {
  const { writeBody: writeOwn } = compiled.def;
  if (writeOwn === undefined) writeBody(out, compiled, values);
  else {
    writeHeader(out, compiled);
    writeOwn(out, values);
  }
}

function writeHeader(out: Writer, compiled: CompiledLayout): void {
  const { frame, version } = compiled.layout;
  if (frame === 'provenZero') out.u8(0);
  out.u8(compiled.def.type);
  if (!isSigned(frame) && frame !== 'genesis') out.u8(version);
}

function writeBody(out: Writer, compiled: CompiledLayout, values: Values<Fields>): void {
  writeHeader(out, compiled);
  for (let i = 0; i < compiled.names.length; i++) {
    compiled.wires[i]!.write(out, values[compiled.names[i]!]);
  }
}

function readHeader(src: Reader, compiled: CompiledLayout): void {
  const { frame, version } = compiled.layout;
  if (frame === 'provenZero') expectByte(src, 0);
  expectByte(src, compiled.def.type);
  if (!isSigned(frame) && frame !== 'genesis') expectByte(src, version);
}

function expectByte(src: Reader, expected: number): void {
  const byte = src.u8();
  if (byte !== expected) throw new CodecError('bytes', `expected ${expected}, found ${byte}`);
}

function readFields(src: Reader, compiled: CompiledLayout): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const { names, wires, again } = compiled;
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    const value = wires[i]!.read(src);
    if (again[i] && values[name] !== value) {
      throw new CodecError('bytes', `${name} stands twice with different values`);
    }
    values[name] = value;
  }
  return withAbsent(compiled, values);
}

function makeTx(
  compiled: CompiledLayout,
  fields: Values<Fields>,
  bytes: Uint8Array,
  body: Uint8Array,
  proofs: readonly Uint8Array[],
  scheme: ChainScheme,
  knownId?: Uint8Array,
): Tx {
  const { def, layout } = compiled;
  const key = def.sender === undefined ? fields['senderPublicKey'] : def.sender(fields);
  const senderPublicKey = (key as Uint8Array | undefined) ?? NONE;
  return {
    def,
    type: def.type,
    version: layout.version,
    layout,
    fields,
    bytes,
    body,
    id: knownId ?? idOf(def, fields, body, scheme, proofs),
    proofs,
    senderPublicKey,
    sender: senderPublicKey.length === 0 ? NONE : scheme.addressOf(senderPublicKey),
    fee: (fields['fee'] as bigint | undefined) ?? 0n,
    timestamp: fields['timestamp'] as number,
  };
}

function idOf(
  def: TxType,
  fields: Values<Fields>,
  body: Uint8Array,
  scheme: ChainScheme,
  proofs: readonly Uint8Array[],
): Uint8Array {
  return def.id === undefined ? scheme.fastHash(body) : def.id(fields, body, scheme, proofs);
}

function guardProofs(frame: Frame, proofs: readonly Uint8Array[]): void {
  if (frame === 'genesis') return;
  const wrong = isSigned(frame)
    ? proofs.length !== 1 || proofs[0]!.length !== SIGNATURE_BYTES
    : proofs.length > PROOFS_MAX || proofs.some((proof) => proof.length > PROOF_BYTES_MAX);
  if (wrong) throw new CodecError('obj.proofs', 'wrong number or size of proofs');
}
