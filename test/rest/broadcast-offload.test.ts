// A broadcast divided between two threads: what the first one does, and what it leaves.
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { latin1 } from '../../src/base/bytes.ts';
import { stringify } from '../../src/base/json/json.ts';
import type { HttpReply, Prepared } from '../../src/base/ports/http.ts';
import { prepareBroadcasts, readPrepared } from '../../src/rest/broadcast-offload.ts';
import { txToJson } from '../../src/tx/json/encode.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { buildTx } from '../../src/tx/tx-bytes.ts';
import { data } from '../../src/tx/types/012-data.ts';
import { payment, scheme, signed, users } from '../chain/chain-harness.ts';
import { family } from '../family.ts';

const [alice, bob] = users;
const prepareAll = prepareBroadcasts(scheme, family);
const prepare = (body: Uint8Array) => prepareAll([body])[0];
const bodyOf = (tx: Tx): Uint8Array => Buffer.from(stringify(txToJson(tx, scheme)));
const withProofs = ({ def, layout, fields }: Tx, proofs: readonly Uint8Array[]): Tx =>
  buildTx(def, layout, fields, proofs, scheme);
const transfer = payment(alice, bob, 7n, 1_700_000_000_000);

t.test('the bytes and the verdicts travel, the answer waits', async (t) => {
  const { message, reply } = prepare(bodyOf(transfer)) as Prepared;
  t.strictSame(readPrepared(message).bytes, transfer.bytes);
  t.strictSame(readPrepared(message).verdicts.about(transfer), { own: [true], carried: [] });
  t.strictSame(readPrepared(message).id, transfer.id);
  t.equal(readPrepared(message).bytesHash, latin1(scheme.fastHash(transfer.bytes)));
  t.strictSame(JSON.parse(String(reply().body)), txToJson(transfer, scheme));
});

t.test('a verdict for each proof, in their order', async (t) => {
  const [good] = transfer.proofs;
  const wrong = new Uint8Array(64).fill(1);
  const short = new Uint8Array(3);
  const verdicts = (...proofs: Uint8Array[]) => {
    const tx = withProofs(transfer, proofs);
    return readPrepared((prepare(bodyOf(tx)) as Prepared).message).verdicts.about(tx);
  };
  t.strictSame(verdicts(wrong), { own: [false], carried: [] });
  t.strictSame(verdicts(short), { own: [false], carried: [] });
  t.strictSame(verdicts(), { own: [], carried: [] });
  t.strictSame(verdicts(wrong, good!, short, good!), {
    own: [false, true, false, true],
    carried: [],
  });
});

t.test('bodies together have the verdicts of each', async (t) => {
  const wrong = new Uint8Array(64).fill(1);
  const several = [
    transfer,
    withProofs(transfer, [wrong]),
    withProofs(transfer, []),
    withProofs(transfer, [wrong, ...transfer.proofs]),
    transfer,
  ].map(bodyOf);
  const bodies = [Buffer.from('{'), ...several.slice(0, 2), Buffer.from('[]'), ...several.slice(2)];
  t.strictSame(
    prepareAll(bodies).map((one) => one !== undefined && 'message' in one && one.message),
    bodies.map((body) => {
      const one = prepare(body);
      return one !== undefined && 'message' in one && one.message;
    }),
  );
  t.strictSame(prepareAll([]), []);
});

t.test('what is wrong without the state is refused at once', async (t) => {
  const refused = (text: string) => prepare(Buffer.from(text)) as HttpReply;
  for (const text of ['{', '[]', '{"type":4}', '{"type":4,"version":2,"amount":-1}']) {
    t.equal(refused(text).status, 400, text);
    t.match(JSON.parse(String(refused(text).body)), { error: 1 });
  }
  t.match(JSON.parse(String(refused('{"type":77,"version":1}').body)).error, /\d+/);
  const input = {
    authorPublicKey: alice.publicKey,
    data: [],
    timestamp: 1_700_000_000_000,
    fee: 1n,
  };
  const json = txToJson(signed(data, alice, input, 1), scheme);
  t.ok('message' in prepare(Buffer.from(stringify(json)))!);
  const other = stringify({ ...json, author: bob.text });
  t.match(JSON.parse(String(refused(other).body)), { error: 102 }, 'an author that is not the key');
});

t.test('the thread of the state does all where the state decides what is meant', async (t) => {
  const id = base58.encode(new Uint8Array(32).fill(7));
  const dataHash = {
    type: 114,
    version: 1,
    senderPublicKey: base58.encode(alice.publicKey),
    policyId: id,
    dataHash: id,
    timestamp: 1_700_000_000_000,
    fee: 5_000_000,
    proofs: [],
  };
  t.equal(prepare(Buffer.from(stringify(dataHash))), undefined);
});
