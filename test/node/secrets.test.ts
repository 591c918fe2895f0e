// Row R18 of the reliability goals: whatever a node signs, encrypts or refuses, neither its log nor
// its answers contain a password, an API key, a private key or an encrypted text. SIGN_CALLS sets
// the number of calls.
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { base58 } from '../../src/base/base58.ts';
import { encodeHex } from '../../src/base/hex.ts';
import { stringify } from '../../src/base/json.ts';
import { call, type RawAnswer } from '../rest-cases/runner.ts';
import { wholeNode } from './in-process.ts';

const CALLS = Number(process.env['SIGN_CALLS'] ?? 500);
const MS_PER_CALL_MAX = 200;
const START_MS_MAX = 120_000;
const PASSWORD = 'correct horse battery staple';
const WRONG = 'hunter2 hunter2 hunter2';
const PRIVATE = 'nobody else may read this sentence';

t.setTimeout(START_MS_MAX + CALLS * MS_PER_CALL_MAX);

const of = await wholeNode(t, { http: httpListener, passwords: [PASSWORD] });
const url = `http://127.0.0.1:${of.node.rest!.port}`;
const [owner, one] = of.accounts;
const strangeKey = base58.encode(randomBytes(24));
const secrets: Readonly<Record<string, string>> = {
  password: PASSWORD,
  'wrong password': WRONG,
  'API key': of.apiKey,
  'privacy API key': of.privacyApiKey,
  'wrong API key': strangeKey,
  'private text': PRIVATE,
  ...keyTexts('key of the owner', owner.privateKey),
  ...keyTexts('key of another account', one.privateKey),
};

function keyTexts(name: string, key: Uint8Array): Record<string, string> {
  return {
    [`${name} in Base58`]: base58.encode(key),
    [`${name} in hex`]: encodeHex(key),
    [`${name} in Base64`]: Buffer.from(key).toString('base64'),
    [`${name} as a list`]: [...key].join(','),
  };
}

const said = (text: string): string[] =>
  Object.keys(secrets).filter((name) => text.includes(secrets[name]!));

type Send = (path: string, body: unknown, key?: string) => Promise<RawAnswer>;
const send: Send = (path, body, key = of.apiKey) => {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  return call('POST', url + path, headers, typeof body === 'string' ? body : stringify(body));
};

const transfer = { type: 4, version: 2, sender: owner.text, recipient: one.text, amount: 1 };
const signed = { ...transfer, attachment: '' };
const publicKey = base58.encode(one.publicKey);
const text = { sender: owner.text, encryptionText: PRIVATE, recipientsPublicKeys: [publicKey] };
const message = `/addresses/signText/${owner.text}`;

/** A call, and whether it succeeds. */
const calls: readonly (readonly [() => Promise<RawAnswer>, boolean])[] = [
  [() => send('/transactions/sign', { ...signed, password: PASSWORD }), true],
  [() => send('/transactions/sign', { ...signed, password: WRONG }), false],
  [() => send('/transactions/sign', { ...signed, password: [WRONG] }), false],
  [() => send('/transactions/sign', { ...signed, type: 999, password: PASSWORD }), false],
  [() => send('/transactions/sign', `{"password":"${PASSWORD}",`), false],
  [() => send('/transactions/sign', { ...signed, password: PASSWORD }, strangeKey), false],
  [() => send('/transactions/signAndBroadcast', { ...signed, password: PASSWORD }), true],
  [() => send(message, { message: 'x', password: PASSWORD }), true],
  [() => send(message, { message: 'x', password: WRONG }), false],
  [() => send(message, { message: 7, password: PASSWORD }), false],
  [() => send('/crypto/encryptSeparate', { ...text, password: PASSWORD }), true],
  [() => send('/crypto/encryptCommon', { ...text, password: WRONG }), false],
  [() => send('/crypto/encryptSeparate', { ...text, recipientsPublicKeys: ['x'] }), false],
];

t.test(`${CALLS} calls say nothing of what is secret`, async (t) => {
  for (let i = 0; i < CALLS; i++) {
    const [make, succeeds] = calls[i % calls.length]!;
    const { status, headers, text } = await make();
    if (i < calls.length) t.equal(status === 200, succeeds, `${i}: ${text.slice(0, 150)}`);
    const found = said(text + stringify({ ...headers }));
    if (found.length > 0) t.fail(`the answer says the ${found.join(', ')}`, { text });
  }
  await of.mine();
  const lines = of.log.all().map((line) => `${stringify(line)}\n`);
  t.ok(lines.length > 0, 'there is a log');
  t.strictSame(
    lines.filter((line) => said(line).length > 0),
    [],
  );
});

t.test('a leak would be seen', async (t) => {
  t.strictSame(said(`"why":"wrong password ${WRONG}"`), ['wrong password']);
  t.strictSame(said(encodeHex(owner.privateKey)), ['key of the owner in hex']);
});
