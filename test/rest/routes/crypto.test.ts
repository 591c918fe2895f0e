/** The crypto methods over HTTP: their answers, decryption of the results, and refusals. */
import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { limits } from '../../../src/rest/limits.ts';
import { exchangeJson } from '../fixtures/exchange-json.ts';
import { memoryNode } from '../fixtures/memory-node.ts';

const { url, accounts } = await memoryNode(t);
const [first, second] = accounts;

const post = (method: string, body: unknown) =>
  exchangeJson('POST', `${url}/crypto/${method}`, {}, JSON.stringify(body));

const [mine, theirs] = [first, second].map(({ publicKey }) => base58.encode(publicKey)) as [
  string,
  string,
];
const TEXT = 'Договор №1: 100 € "на словах"\n🗝';
const ask = { sender: first.text, encryptionText: TEXT, recipientsPublicKeys: [theirs, mine] };

interface Sealed {
  readonly encryptedText: string;
  readonly wrappedKey: string;
}

interface Recipient extends Sealed {
  readonly publicKey: string;
}

const open = (sealed: Sealed, changes: object = {}) =>
  post('decrypt', {
    recipient: second.text,
    senderPublicKey: mine,
    encryptedText: sealed.encryptedText,
    wrappedKey: sealed.wrappedKey,
    ...changes,
  });

async function common(text = TEXT): Promise<Sealed> {
  const { body } = await post('encryptCommon', { ...ask, encryptionText: text });
  const keys = body['recipientToWrappedStructure'] as Record<string, string>;
  t.strictSame(Object.keys(keys), [theirs, mine]);
  return { encryptedText: String(body['encryptedText']), wrappedKey: keys[theirs]! };
}

t.test('separate: each recipient opens the own ciphertext', async (t) => {
  const { status, body } = await post('encryptSeparate', ask);
  t.equal(status, 200);
  const list = body as unknown as readonly [Recipient, Recipient];
  t.strictSame(
    list.map(({ publicKey }) => publicKey),
    [theirs, mine],
  );
  const [forSecond, forFirst] = list;
  t.not(forSecond.encryptedText, forFirst.encryptedText);
  t.strictSame((await open(forSecond)).body, { decryptedText: TEXT });
  t.strictSame((await open(forFirst, { recipient: first.text })).body, { decryptedText: TEXT });
  t.match((await open(forFirst)).body, { error: 199, message: /^Decryption failed: / });
});

t.test('common: one ciphertext, a key for each recipient', async (t) => {
  for (const text of [TEXT, '', 'x'.repeat(100_000)]) {
    t.strictSame((await open(await common(text))).body, { decryptedText: text });
  }
});

t.test('nobody is nobody', async (t) => {
  const nobody = { ...ask, recipientsPublicKeys: [] };
  t.strictSame((await post('encryptSeparate', nobody)).body, []);
  t.match((await post('encryptCommon', nobody)).body, { recipientToWrappedStructure: {} });
});

t.test('a ciphertext in Base58, as older nodes gave it', async (t) => {
  const sealed = await common();
  const old = base58.encode(Buffer.from(sealed.encryptedText, 'base64'));
  t.strictSame((await open({ ...sealed, encryptedText: old })).body, { decryptedText: TEXT });
});

t.test('what does not belong together stays closed', async (t) => {
  const sealed = await common();
  const other = await common();
  const broken = Buffer.from(sealed.encryptedText, 'base64');
  broken[20]! ^= 1;
  const changes: readonly object[] = [
    { wrappedKey: other.wrappedKey },
    { encryptedText: broken.toString('base64') },
    { encryptedText: '' },
    { encryptedText: 'AAAA' },
    { encryptedText: '###' },
    { wrappedKey: '0OIl' },
    { wrappedKey: '' },
    { recipient: first.text },
    { senderPublicKey: theirs },
    { senderPublicKey: base58.encode(new Uint8Array(32)) },
  ];
  for (const change of changes) {
    const { status, body } = await open(sealed, change);
    t.equal(status, 400);
    t.match(body, { error: 199, message: /^Decryption failed: / }, JSON.stringify(change));
  }
});

t.test('every refusal has its code', async (t) => {
  const sealed = await common();
  const weak = base58.encode(new Uint8Array(32));
  const many = Array.from({ length: limits.encryption.recipients + 1 }, () => theirs);
  const long = { encryptionText: 'x'.repeat(100_000), recipientsPublicKeys: many.slice(0, 100) };
  const cases: readonly (readonly [method: string, body: object, error: number])[] = [
    ['encryptSeparate', { ...ask, sender: 'zzz' }, 102],
    ['encryptSeparate', { ...ask, password: 'wrong' }, 115],
    ['encryptSeparate', { ...ask, recipientsPublicKeys: [theirs, '0OIl'] }, 108],
    ['encryptSeparate', { ...ask, recipientsPublicKeys: [weak] }, 108],
    ['encryptSeparate', { ...ask, cryptoAlgo: 'rot13' }, 1],
    ['encryptSeparate', { ...ask, encryptionText: undefined }, 1],
    ['encryptSeparate', { ...ask, ...long }, 10],
    ['encryptCommon', { ...ask, sender: `${first.text}x` }, 102],
    ['encryptCommon', { ...ask, password: 'wrong' }, 115],
    ['encryptCommon', { ...ask, recipientsPublicKeys: [weak] }, 108],
    ['encryptCommon', { ...ask, recipientsPublicKeys: many }, 10],
    ['encryptCommon', { ...ask, recipientsPublicKeys: theirs }, 1],
    ['decrypt', { ...sealed, recipient: 'zzz', senderPublicKey: mine }, 102],
    ['decrypt', { ...sealed, recipient: second.text, senderPublicKey: 'abc' }, 108],
    ['decrypt', { recipient: second.text, senderPublicKey: mine, wrappedKey: 'x' }, 1],
    ['decrypt', { ...sealed, recipient: second.text, senderPublicKey: mine, cryptoAlgo: 'x' }, 1],
  ];
  for (const [method, body, error] of cases) {
    const answer = await post(method, body);
    t.equal(answer.status, 400, `${method} ${error}`);
    t.equal(answer.body['error'], error, `${method} ${error}`);
  }
  t.equal((await open(sealed, { password: 'wrong' })).body['error'], 115);
  t.equal((await post('encryptCommon', { ...ask, cryptoAlgo: 'aes' })).status, 200);
});

t.test('bodies over the limit, and the longest text there and back', async (t) => {
  const tooLong = { ...ask, encryptionText: 'x'.repeat(limits.body.encrypt) };
  for (const method of ['encryptSeparate', 'encryptCommon']) {
    const { status, body } = await post(method, tooLong);
    t.equal(status, 400);
    t.equal(body['error'], 611);
  }
  const sealed = { encryptedText: 'A'.repeat(limits.body.decrypt), wrappedKey: 'x' };
  t.equal((await open(sealed)).body['error'], 611);
  const room = limits.body.encrypt - JSON.stringify({ ...ask, encryptionText: '' }).length;
  const longest = 'x'.repeat(room);
  t.strictSame((await open(await common(longest))).body, { decryptedText: longest });
});
