// Messages signed with a key of the keystore, and verified.
import t from 'tap';
import { memoryNode } from '../fixtures/memory-node.ts';

const { post, accounts, apiKey: API_KEY } = await memoryNode(t);
const [first] = accounts;

t.test('signing and verifying', async (t) => {
  const key = { 'X-API-Key': API_KEY };
  const message = 'привет '.repeat(300);
  for (const [sign, verify] of [
    ['sign', 'verify'],
    ['signText', 'verifyText'],
  ]) {
    const path = (name: string | undefined) => `/addresses/${name}/${first.text}`;
    const signed = await post(path(sign), JSON.stringify({ message }), key);
    t.equal(signed.status, 200);
    const valid = (body: unknown) => post(path(verify), JSON.stringify(body), key);
    t.strictSame((await valid(signed.body)).body, { valid: true });
    const { publicKey, ...rest } = signed.body;
    t.strictSame((await valid({ ...rest, publickey: publicKey })).body, { valid: true });
    t.strictSame((await valid({ ...signed.body, signature: 'abc' })).body, { valid: false });
    t.equal((await valid({ ...signed.body, signature: '' })).body['error'], 101);
    t.equal((await valid({ ...signed.body, publicKey: '' })).body['error'], 108);
    t.equal((await valid(rest)).body['error'], 1);
  }
  const wrong = JSON.stringify({ message: 'x', password: 'wrong' });
  t.equal((await post(`/addresses/sign/${first.text}`, wrong, key)).body['error'], 115);
});
