/** Valid transactions in which one member is as large or as small as its declaration allows. */
import { equal } from '../../src/base/bytes.ts';
import { ApiError } from '../../src/base/errors.ts';
import { parse, stringify } from '../../src/base/json/json.ts';
import { base58 } from '../../src/codec/text.ts';
import { isSigned, signedBytes } from '../../src/tx/assemble.ts';
import { txFromJson, txToJson } from '../../src/tx/json/encode.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { type Account, miners, scheme, users } from '../chain/chain-harness.ts';
import { type Extremes, extremesOf, type Json, membersOf, put } from './extremes.ts';
import type { Rng } from './random.ts';

const everybody: readonly Account[] = [...miners, ...users];
/** Enough for the largest transactions, whose fee grows with their size. */
const FEE = 1_000_000_000;
const NO_PROOF = base58.encode(new Uint8Array(64));

/** What has been found out, by layout and member. Each run begins anew, so that its seed says all. */
export type ExtremesOf = Map<string, Extremes | undefined>;

/** Undefined where its sender cannot sign it here, or where the member has no limits. */
export function outsized(tx: Tx, rng: Rng, known: ExtremesOf): Tx | undefined {
  const from = everybody.find(({ publicKey }) => equal(publicKey, tx.senderPublicKey));
  if (from === undefined || tx.def.internal === true || tx.def.signable === false) return undefined;
  const { id: _id, sender: _sender, ...made } = parse(stringify(txToJson(tx, scheme))) as Json;
  const json: Json = { ...made, fee: FEE };
  const paths = membersOf(tx, json).filter(
    ([name]) => !['senderPublicKey', 'proofs', 'signature', 'fee'].includes(String(name)),
  );
  const path = rng.pick(paths);
  const key = `${tx.type} ${tx.version} ${tx.layout.variant} ${path.join('.')}`;
  if (!known.has(key)) {
    known.set(
      key,
      extremesOf(json, path, (one) => readable(one) !== undefined),
    );
  }
  const found = known.get(key);
  if (found === undefined) return undefined;
  return signedBy(from, put(json, path, rng.chance(3) ? found.smallest : found.largest));
}

function signedBy(from: Account, json: Json): Tx | undefined {
  const unsigned = readable({ ...json, proofs: [NO_PROOF], signature: NO_PROOF });
  if (unsigned === undefined) return undefined;
  const proof = base58.encode(from.sign(signedBytes(unsigned)));
  return readable(
    isSigned(unsigned.layout.frame)
      ? { ...json, signature: proof }
      : { ...json, signature: undefined, proofs: [proof] },
  );
}

function readable(json: Json): Tx | undefined {
  try {
    return txFromJson(json, scheme);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
