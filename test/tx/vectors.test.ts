/** Bytes, ids, JSON and signatures of the vectors agree with ours; flipped bits do not verify. */
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { parse, stringify } from '../../src/base/json/json.ts';
import { broadcastFromJson, txFromJson, txToJson } from '../../src/tx/json/encode.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { decodeTx, signedBytes } from '../../src/tx/tx-bytes.ts';
import { family, scheme } from '../generators/network.ts';
import { accepted, fromHex, fullBytes, title, toHex, type Vector, vectors } from './vectors.ts';

const verifies = (tx: Tx): boolean =>
  family.verify(tx.senderPublicKey, signedBytes(tx), tx.proofs[0]!);

/** What the client meant: the form that its proof verifies over. */
function meant(json: unknown): Tx {
  const { type } = json as { type: number };
  if (type !== 14) return txFromJson(json, scheme);
  const candidates = broadcastFromJson(json, scheme);
  return candidates.find(verifies) ?? candidates[0];
}

t.ok(accepted.length >= 160, 'the vectors are all there');

for (const vector of accepted) {
  t.test(title(vector), (t) => {
    const tx = decodeTx(fullBytes(vector), scheme);
    t.equal(tx.type, vector.type);
    t.equal(tx.version, vector.version);
    t.equal(base58.encode(tx.id), vector.nodeId, 'id');
    if (vector.sender !== undefined) t.equal(scheme.addressToText(tx.sender), vector.sender);

    const answer = stringify(txToJson(tx, scheme));
    t.equal(toHex(meant(parse(answer)).bytes), vector.fullBytesHex, 'our JSON gives the bytes');
    t.equal(toHex(meant(vector.json).bytes), vector.fullBytesHex, 'its JSON gives the bytes');
    t.match(parse(answer), comparable(vector), 'our JSON has the members of theirs');

    if (tx.layout.frame !== 'genesis') {
      t.equal(toHex(signedBytes(tx)), vector.bodyBytesHex, 'signed bytes');
      t.ok(verifies(tx), 'signature');
      for (const broken of flipped(tx)) t.notOk(verifies(broken), 'a flipped bit is noticed');
    }
    t.end();
  });
}

/** Their JSON without what differs by design: ids of type 10, foreign members, other spellings. */
function comparable({ json, type }: Vector): Record<string, unknown> {
  const same: Record<string, unknown> = { ...json };
  const foreign = ['duplicate_timestamp', 'payments', 'order1', 'order2', 'script', 'tx'];
  for (const name of foreign) delete same[name];
  if (type === 10) delete same['id'];
  if (type === 14) delete same['minSponsoredAssetFee'];
  if (type !== 3 && type !== 5 && type !== 6 && type !== 9 && type !== 13) delete same['chainId'];
  for (const [name, value] of Object.entries(same)) {
    if (typeof value === 'string' && /^\d+$/.test(value)) same[name] = Number(value);
  }
  return same;
}

function flipped(tx: Tx): Tx[] {
  const flip = (bytes: Uint8Array, at: number, mask: number): Uint8Array => {
    const copy = Uint8Array.from(bytes);
    copy[at]! ^= mask;
    return copy;
  };
  const proof = tx.proofs[0]!;
  return [
    { ...tx, body: flip(tx.body, tx.body.length >> 1, 1) },
    { ...tx, proofs: [flip(proof, 3, 1)] },
    { ...tx, proofs: [flip(proof, 40, 1)] },
    { ...tx, proofs: [flip(proof, 63, 0x80)] },
  ];
}

for (const vector of vectors.filter((vector) => !vector.accept)) {
  t.test(`not accepted: ${title(vector)}`, (t) => {
    let verdict = false;
    try {
      // The library's own proof over what this node would have signed.
      const json = { name: 'n', description: '', ...vector.json };
      verdict = verifies(txFromJson(json, scheme));
    } catch {
      t.pass('refused');
    }
    t.notOk(verdict);
    t.throws(() => decodeTx(fromHex(`00${vector.bodyBytesHex}010000`), scheme));
    t.end();
  });
}
