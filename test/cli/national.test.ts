// Commands with --national-crypto, against results of the clients' libraries.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { utf8 } from '../../src/base/bytes.ts';
import { streebog256 } from '../crypto/gost/client-library.ts';
import { familyB } from '../crypto/vector-file.ts';
import { jsonLines, run } from './run.ts';

const folder = mkdtempSync(join(tmpdir(), 'national-'));
t.teardown(() => rmSync(folder, { recursive: true }));
const [alice, bob] = familyB.keys as [(typeof familyB.keys)[0], (typeof familyB.keys)[0]];
const seedFile = (name: string, phrase: string): string[] => {
  writeFileSync(join(folder, name), `${phrase}\n`);
  return ['--seed-file', join(folder, name)];
};
const ofAlice = seedFile('alice', alice.seedPhrase);
const ofBob = seedFile('bob', bob.seedPhrase);
const NATIONAL = '--national-crypto';

t.test('keys and addresses', async (t) => {
  const input = familyB.keys.map(({ seedPhrase }) => `${seedPhrase}\n`).join('');
  const { code, stdout } = await run(['keystore', 'derive', '--chain-id', 'W', NATIONAL], {
    input,
  });
  t.equal(code, 0);
  t.match(
    jsonLines(stdout),
    familyB.keys.map(({ publicKey, addresses }) => ({ publicKey, address: addresses['W'] })),
  );
});

t.test('the hash of an API key', async (t) => {
  const { stdout } = await run(['api-key', 'hash', '-', NATIONAL], { input: 'of the secret kind' });
  t.match(stdout, base58.encode(streebog256(utf8('of the secret kind'))));
});

t.test('a transaction signed and checked without a node', async (t) => {
  const transfer = {
    type: 4,
    version: 2,
    sender: alice.addresses['T'],
    recipient: bob.addresses['T'],
    amount: 1,
    fee: 1_000_000,
    timestamp: 1_574_240_400_000,
    attachment: '',
  };
  const input = JSON.stringify(transfer);
  const signed = await run(['tx', 'sign', '-c', 'T', NATIONAL, ...ofAlice], { input });
  t.equal(signed.code, 0, signed.stderr);
  const verify = ['tx', 'verify', '-c', 'T', NATIONAL];
  const good = await run(verify, { input: signed.stdout });
  t.match(JSON.parse(good.stdout), { valid: true });
  const forged = JSON.stringify({ ...JSON.parse(signed.stdout), amount: 2 });
  const bad = await run(verify, { input: forged });
  t.match(JSON.parse(bad.stdout), { valid: false });
  t.equal(bad.code, 1);
  const other = await run(['tx', 'verify', '-c', 'T'], { input: signed.stdout });
  t.match(other.stdout + other.stderr, /public key/, 'its key is none of the other family');
});

t.test('an encrypted text', async (t) => {
  const encrypt = ['crypto', 'encrypt', '--to', bob.publicKey, NATIONAL, ...ofAlice];
  const encrypted = await run(encrypt, { input: 'секрет' });
  t.equal(encrypted.code, 0, encrypted.stderr);
  const decrypt = ['crypto', 'decrypt', NATIONAL, ...ofBob];
  const opened = await run(decrypt, { input: encrypted.stdout });
  t.strictSame(jsonLines(opened.stdout), [{ decryptedText: 'секрет' }]);
});
