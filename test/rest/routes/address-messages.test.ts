// Messages signed with a key of the keystore, and verified.
import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { memoryNode } from '../fixtures/memory-node.ts';

const { post, accounts, apiKey: API_KEY, node, serve } = await memoryNode(t);
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

t.test('the Base58 of a message is made in the turn of its request', async (t) => {
  const { keystore } = node.services;
  const url = await serve({
    keystore: {
      addresses: () => keystore.addresses(),
      publicKey: (address) => keystore.publicKey(address),
      requestKey: (address, password) => keystore.requestKey(address, password),
      reload: () => keystore.reload(),
      // Answers all that wait at once; whoever works on the message only then sees nothing of it.
      async sign(address, password, message) {
        const signature = await keystore.sign(address, password, message);
        message.fill(0);
        return signature;
      },
    },
  });
  const answer = await fetch(`${url}/addresses/sign/${first.text}`, {
    method: 'POST',
    headers: { 'X-API-Key': API_KEY },
    body: JSON.stringify({ message: 'hi' }),
  });
  t.match(await answer.json(), { message: base58.encode(Buffer.from('hi')) });
});
