// A member of a group that is refused in JSON is an error of its place, beside those of other fields.
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { txFromJson } from '../../src/tx/json/encode.ts';
import { scheme, users } from '../chain/chain-harness.ts';

const group = (change: object) => ({
  ...{ type: 120, version: 1, senderPublicKey: base58.encode(users[0].publicKey), proofs: [] },
  ...{ timestamp: 1_700_000_000_000, transactions: [{ type: 13, version: 1 }], ...change },
});

t.test('a wrong shape elsewhere comes first', async (t) => {
  t.throws(() => txFromJson(group({}), scheme), { message: /type 13 does not support atomic/ });
  t.throws(() => txFromJson(group({ timestamp: 'soon' }), scheme), {
    code: 1,
    extra: { validationErrors: { 'obj.timestamp': [{}] } },
  });
});

t.test('the seal is an object, and its key alone is none', async (t) => {
  for (const miner of ['abc', 5]) {
    t.throws(() => txFromJson(group({ miner, transactions: [] }), scheme), {
      code: 1,
      extra: { validationErrors: { 'obj.miner': [{}] } },
    });
  }
});
