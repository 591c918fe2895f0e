/** Offline proofs as JSON (finality.md#proofs): bytes are Base64. */
import { type ChainScheme, CodecError } from '../../codec/codec.ts';
import { base64 } from '../../codec/text.ts';
import { decodeVoterSets, encodeVoterSets } from '../votes/voter-sets-bytes.ts';
import { decodeFinalProof, encodeFinalProof } from './final-proof.ts';
import type { OfflineProof, ProofStep } from './offline-proof.ts';

/** The most bytes of a part; the longest has the votes of two sets. */
const BYTES_MAX = 256 * 1024;

export interface ProofStepJson {
  readonly proof: string;
  readonly sets: string;
}

export const stepsToJson = (steps: readonly ProofStep[], scheme: ChainScheme): ProofStepJson[] =>
  steps.map((step) => ({
    proof: base64.encode(encodeFinalProof(step, scheme)),
    sets: base64.encode(encodeVoterSets(step.sets, scheme)),
  }));

/** Ignores other fields. Throws CodecError. */
export function proofFromJson(json: unknown, scheme: ChainScheme): OfflineProof {
  return {
    steps: listOf(json, 'steps').map((step) => ({
      ...decodeFinalProof(bytesOf(fieldOf(step, 'proof')), scheme),
      sets: decodeVoterSets(bytesOf(fieldOf(step, 'sets')), scheme),
    })),
    headers: listOf(json, 'headers').map(bytesOf),
  };
}

function fieldOf(json: unknown, name: string): unknown {
  if (typeof json !== 'object' || json === null) throw new CodecError('proof', 'no object');
  return (json as Record<string, unknown>)[name];
}

function listOf(json: unknown, name: string): readonly unknown[] {
  const list = fieldOf(json, name);
  if (!Array.isArray(list)) throw new CodecError('proof', `'${name}' is no list`);
  return list;
}

function bytesOf(text: unknown): Uint8Array {
  if (typeof text !== 'string') throw new CodecError('proof', 'bytes are a text in Base64');
  try {
    return base64.decode(text, BYTES_MAX);
  } catch (cause) {
    throw new CodecError('proof', `no Base64: ${String(cause)}`);
  }
}
