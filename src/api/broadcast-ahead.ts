/**
 * A broadcast whose work is divided between two threads. One reads the body, makes the transaction,
 * checks the signatures and prints the answer. The other, which owns the state, admits it.
 *
 * What travels: number of accounts that have signed (u8) ‖ for each, number of its proofs (u8) ‖ one
 * byte for each proof in this order, 1 for a good signature ‖ id (32) ‖ hash of the full bytes (32) ‖
 * full bytes of the transaction.
 */
import { equal, latin1Part } from '../base/bytes.ts';
import type { AheadWork } from '../base/http.ts';
import type { JsonObject } from '../base/json.ts';
import type { SignatureCheck } from '../base/ports.ts';
import { ID_BYTES } from '../base/sizes.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { CryptoFamily } from '../crypto/family.ts';
import { broadcastFromJson, txToJson } from '../tx/json/encode.ts';
import {
  addChecks,
  ONE_BAD,
  ONE_GOOD,
  type ProofVerdicts,
  takeVerdicts,
  type Verdicts,
} from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import { decodeTx } from '../tx/tx-bytes.ts';
import { policyDataHash } from '../tx/types/114-policy-data-hash.ts';
import { print, printed, refusalOfRule } from './answer.ts';
import { jsonObject } from './body.ts';
import type { Body } from './route.ts';

/** The name of the first thread's part. */
export const BROADCAST = 'broadcast';

export const signedBody: Body<JsonObject> = jsonObject({
  $ref: '#/components/schemas/SignedTransaction',
});

/** The part that needs no state. */
export function prepareBroadcast(
  scheme: ChainScheme,
  family: Pick<CryptoFamily, 'prepare' | 'verify' | 'publicKeySize' | 'signatureSize'>,
): AheadWork {
  return (body) => {
    try {
      const [tx, other] = broadcastFromJson(signedBody.parse(body) as JsonObject, scheme);
      // The state decides about a type 114, and the signature which of two layouts is meant.
      if (other !== undefined || tx.type === policyDataHash.type) return undefined;
      if (tx.id.length !== ID_BYTES || !isInBytes(tx, scheme)) return undefined;
      const checks: SignatureCheck[] = [];
      addChecks(checks, tx);
      const verdicts = takeVerdicts(checks.map(isGood).values(), tx);
      const reply = () => printed(print(txToJson(tx, scheme)));
      return { message: writeMessage(verdicts, tx, scheme.fastHash(tx.bytes)), reply };
    } catch (error) {
      // The thread of the state handles all other errors, and writes them to the log.
      return refusalOfRule(error);
    }
  };

  function isGood({ publicKey, message, signature }: SignatureCheck): boolean {
    if (publicKey.length !== family.publicKeySize) return false;
    if (signature.length !== family.signatureSize) return false;
    family.prepare([publicKey]);
    return family.verify(publicKey, message, signature);
  }
}

/** True where the bytes mean the same transaction: only they travel. */
function isInBytes(tx: Tx, scheme: ChainScheme): boolean {
  const again = decodeTx(tx.bytes, scheme);
  return again.layout === tx.layout && equal(again.id, tx.id);
}

function writeMessage(
  { own, carried }: ProofVerdicts,
  { id, bytes }: Tx,
  bytesHash: Uint8Array,
): Uint8Array {
  const accounts = [own, ...carried];
  const head = [accounts.length, ...accounts.map(({ length }) => length)];
  for (const verdicts of accounts) for (const isGood of verdicts) head.push(isGood ? 1 : 0);
  const message = new Uint8Array(head.length + 2 * ID_BYTES + bytes.length);
  message.set(head);
  message.set(id, head.length);
  message.set(bytesHash, head.length + ID_BYTES);
  message.set(bytes, head.length + 2 * ID_BYTES);
  return message;
}

export interface PreparedBroadcast {
  /** A view into the message, as is the id. */
  readonly bytes: Uint8Array;
  readonly id: Uint8Array;
  /** As Latin-1 text. */
  readonly bytesHash: string;
  readonly verdicts: ProofVerdicts;
}

export function readPrepared(message: Uint8Array): PreparedBroadcast {
  const accounts = message[0]!;
  // One account with one proof, as almost always.
  if (accounts === 1 && message[1] === 1) {
    return preparedFrom(message, 3, message[2] === 1 ? ONE_GOOD : ONE_BAD);
  }
  let at = 1 + accounts;
  const lists = Array.from({ length: accounts }, (_, i): Verdicts => {
    const begin = at;
    at += message[1 + i]!;
    return Array.from(message.subarray(begin, at), (byte) => byte === 1);
  });
  const [own = [], ...carried] = lists;
  return preparedFrom(message, at, { own, carried });
}

/** `at` is the place of the id. */
function preparedFrom(message: Uint8Array, at: number, verdicts: ProofVerdicts): PreparedBroadcast {
  const hashAt = at + ID_BYTES;
  const bytesAt = hashAt + ID_BYTES;
  return {
    bytes: message.subarray(bytesAt),
    id: message.subarray(at, hashAt),
    bytesHash: latin1Part(message, hashAt, bytesAt),
    verdicts,
  };
}
