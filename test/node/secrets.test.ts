// Row R18 of the reliability goals: whatever a node signs, encrypts or refuses, neither its log nor
// its answers contain a password, an API key, a private key or an encrypted text. SIGN_CALLS sets
// the number of calls.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { files } from '../../src/adapters/files.ts';
import { httpListener } from '../../src/adapters/http/listener.ts';
import { systemRandom } from '../../src/adapters/system.ts';
import { base58 } from '../../src/base/base58.ts';
import { encodeHex } from '../../src/base/hex.ts';
import { stringify } from '../../src/base/json/json.ts';
import { createChainScheme } from '../../src/crypto/chain-scheme.ts';
import { createFamily } from '../../src/crypto/families.ts';
import { openKeystore } from '../../src/keystore/keystore.ts';
import { drafted, merged, requestOf } from '../cli/commands/network/folders.ts';
import { run } from '../cli/run.ts';
import { call, type RawAnswer } from '../rest-cases/runner.ts';
import { temporaryFolder } from '../system/e2e/dev-node.ts';
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

const said = (text: string, of: Readonly<Record<string, string>> = secrets): string[] =>
  Object.keys(of).filter((name) => text.includes(of[name]!));

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

t.test('no request of a member, and no file that members exchange', async (t) => {
  const dir = join(temporaryFolder(t), 'n');
  await drafted(dir, 1);
  const member = join(dir, 'alpha');
  const words = ['network', 'join', member, '--password-env', 'SECRET'];
  const env = { SECRET: PASSWORD };
  const runs = [await run(words, { env }), await run(words, { env })];
  runs.push(await run([...words, '--new-key'], { env: { SECRET: WRONG } }));
  runs.push(await merged(dir, [requestOf(dir, 'alpha')]));
  runs.push(await run(['network', 'checksum', member]));
  for (const { code, stderr } of runs) t.equal(code, 0, stderr);
  const kept = (name: string): string => readFileSync(join(member, name), 'utf8').trim();
  const family = createFamily('curve25519');
  const layout = family.keystoreLayout;
  const path = join(member, 'keystore.dat');
  const keystore = await openKeystore(
    { path, layout, password: kept('wallet-password') },
    { files, random: systemRandom, family, scheme: createChainScheme(family, 'T'.charCodeAt(0)) },
  );
  const all: Record<string, string> = {
    password: PASSWORD,
    'other password': WRONG,
    'wallet password': kept('wallet-password'),
    'API key': kept('api-key'),
  };
  t.equal(keystore.accounts().length, 2);
  for (const { address } of keystore.accounts()) {
    const key = await keystore
      .privateKey(address, PASSWORD)
      .catch(() => keystore.privateKey(address, WRONG));
    Object.assign(all, keyTexts(base58.encode(address), key));
  }
  keystore.close();
  const secret = ['api-key', 'keystore.dat', 'wallet-password'];
  const written = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !secret.includes(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name));
  t.ok(written.some((file) => file.endsWith('alpha.request.json')));
  for (const file of written) t.strictSame(said(readFileSync(file, 'utf8'), all), [], file);
  for (const { stdout, stderr } of runs) t.strictSame(said(stdout + stderr, all), []);
  t.strictSame(said(`a request with ${kept('api-key')}`, all), ['API key']);
});

t.test('a leak would be seen', async (t) => {
  t.strictSame(said(`"why":"wrong password ${WRONG}"`), ['wrong password']);
  t.strictSame(said(encodeHex(owner.privateKey)), ['key of the owner in hex']);
});
