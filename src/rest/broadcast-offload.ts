/**
 * A broadcast whose work is divided between two threads. One reads the body, makes the transaction,
 * checks the signatures and prints the answer. The other, which owns the state, admits it.
 *
 * What travels: the verdicts (tx/proof-verdicts.ts) ‖ id (32) ‖ hash of the full bytes (32) ‖ full
 * bytes of the transaction.
 */
import { equal, latin1Part } from '../base/bytes.ts';
import type { JsonObject } from '../base/json/json.ts';
import type { HttpReply, OffloadWork } from '../base/ports/http.ts';
import type { SignatureCheck } from '../base/ports/verifier.ts';
import { ID_BYTES } from '../base/sizes.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { CryptoFamily } from '../crypto/family.ts';
import { print, printed, refusalOfRule } from '../rest-framework/answer.ts';
import { jsonObject } from '../rest-framework/body.ts';
import type { Body } from '../rest-framework/route.ts';
import { broadcastFromJson, txToJson } from '../tx/json/encode.ts';
import { withMembers } from '../tx/members.ts';
import {
  type ProofVerdicts,
  readVerdicts,
  signatureChecks,
  writeVerdicts,
} from '../tx/proof-verdicts.ts';
import type { Tx } from '../tx/transaction.ts';
import { decodeTx } from '../tx/tx-bytes.ts';
import { policyDataHash } from '../tx/types/114-policy-data-hash.ts';

/** The name of the first thread's part. */
export const BROADCAST = 'broadcast';

export const signedBody: Body<JsonObject> = jsonObject({
  $ref: '#/components/schemas/SignedTransaction',
});

/** The part that needs no state. The signatures of all bodies are checked together. */
export function prepareBroadcasts(
  scheme: ChainScheme,
  family: Pick<CryptoFamily, 'verifyAll'>,
): OffloadWork {
  return (bodies) => {
    const all = bodies.map((body) => readBroadcast(body, scheme));
    const verdicts = family.verifyAll(all.flatMap((one) => (isRead(one) ? one.checks : [])));
    let at = 0;
    return all.map((one) => {
      if (!isRead(one)) return one;
      const { sent, own, checks } = one;
      const head = writeVerdicts(own, verdicts.slice(at, at + checks.length));
      at += checks.length;
      const reply = () => printed(print(txToJson(sent, scheme)));
      return { message: messageOf(head, own, scheme.fastHash(own.bytes)), reply };
    });
  };
}

interface Broadcast {
  readonly sent: Tx;
  /** The transaction as the other thread will decode it from its bytes. */
  readonly own: Tx;
  readonly checks: readonly SignatureCheck[];
}

const isRead = (one: Broadcast | HttpReply | undefined): one is Broadcast =>
  one !== undefined && 'checks' in one;

function readBroadcast(body: Uint8Array, scheme: ChainScheme): Broadcast | HttpReply | undefined {
  try {
    const [sent, other] = broadcastFromJson(signedBody.parse(body) as JsonObject, scheme);
    // The state decides about a type 114, and the signature which of two layouts is meant.
    if (other !== undefined || concernsData(sent)) return undefined;
    const own = inBytes(sent, scheme);
    if (sent.id.length !== ID_BYTES || own === undefined) return undefined;
    return { sent, own, checks: signatureChecks(own) };
  } catch (error) {
    // The thread of the state handles all other errors, and writes them to the log.
    return refusalOfRule(error);
  }
}

const concernsData = (tx: Tx): boolean =>
  [...withMembers([tx])].some(({ type }) => type === policyDataHash.type);

/** What the bytes mean, since only they travel; undefined where this is another transaction. */
function inBytes(tx: Tx, scheme: ChainScheme): Tx | undefined {
  const again = decodeTx(tx.bytes, scheme);
  return again.layout === tx.layout && equal(again.id, tx.id) ? again : undefined;
}

function messageOf(head: readonly number[], { id, bytes }: Tx, bytesHash: Uint8Array): Uint8Array {
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
  const verdicts = readVerdicts(message, 2 * ID_BYTES);
  const { bytes } = verdicts;
  const bytesAt = message.length - bytes.length;
  const hashAt = bytesAt - ID_BYTES;
  return {
    bytes,
    id: message.subarray(hashAt - ID_BYTES, hashAt),
    bytesHash: latin1Part(message, hashAt, bytesAt),
    verdicts,
  };
}
