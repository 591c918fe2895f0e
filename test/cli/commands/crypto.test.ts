// Texts encrypted and decrypted with seed phrases, without a node.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { createFamily } from '../../../src/crypto/families.ts';
import { familyA } from '../../crypto/vector-file.ts';
import { jsonLines, run } from '../run.ts';

const folder = mkdtempSync(join(tmpdir(), 'crypto-'));
t.teardown(() => rmSync(folder, { recursive: true }));
const family = createFamily('curve25519');
const TEXT = 'Договор №1\nзвезда ★';

interface Person {
  readonly seed: string;
  readonly publicKey: string;
}

function person(name: string): Person {
  const phrase = `the seed phrase of ${name}`;
  const seed = join(folder, name);
  writeFileSync(seed, `${phrase}\n`);
  return { seed, publicKey: base58.encode(family.keyPairFromPhrase(phrase).publicKey) };
}

const [alice, bob, carol] = ['alice', 'bob', 'carol'].map(person) as [Person, Person, Person];
const encrypt = ['crypto', 'encrypt', '--to', `${bob.publicKey},${carol.publicKey}`];
const as = ({ seed }: Person): string[] => ['--seed-file', seed];

for (const mode of [[], ['--separate']]) {
  t.test(`encrypt | convert | decrypt ${mode.join('')}`, async (t) => {
    const encrypted = await run([...encrypt, ...mode, ...as(alice)], { input: TEXT });
    t.equal(encrypted.code, 0, encrypted.stderr);
    const lines = jsonLines(encrypted.stdout);
    t.match(lines, [{ publicKey: bob.publicKey }, { publicKey: carol.publicKey }]);
    t.equal(lines[0]?.['encryptedText'] === lines[1]?.['encryptedText'], mode.length === 0);

    const old = await run(['crypto', 'convert', '--to', 'base58'], { input: encrypted.stdout });
    t.match(jsonLines(old.stdout)[0]?.['encryptedText'], /^[1-9A-HJ-NP-Za-km-z]+$/);
    const back = await run(['crypto', 'convert', '--to', 'base64'], { input: old.stdout });
    t.equal(back.stdout, encrypted.stdout, 'there and back');

    for (const input of [encrypted.stdout, old.stdout]) {
      const opened = await run(['crypto', 'decrypt', ...as(bob)], { input });
      const failure = { error: 199, message: 'Decryption failed' };
      t.strictSame(jsonLines(opened.stdout), [{ decryptedText: TEXT }, failure]);
      t.equal(opened.code, 1, 'one line was for somebody else');
    }
  });
}

t.test('bare texts are converted as other clients made them', async (t) => {
  const [vector] = familyA.encryption.filter(({ mode }) => mode === 'separate');
  const { encryptedTextBase64, encryptedTextBase58 } = vector as {
    encryptedTextBase64: string;
    encryptedTextBase58: string;
  };
  const to = (encoding: string, input: string) =>
    run(['crypto', 'convert', '--to', encoding], { input: `${input}\n` });
  const [old, modern] = [
    await to('base58', encryptedTextBase64),
    await to('base64', encryptedTextBase58),
  ];
  t.strictSame(jsonLines(old.stdout), [{ encryptedText: encryptedTextBase58 }]);
  t.strictSame(jsonLines(modern.stdout), [{ encryptedText: encryptedTextBase64 }]);
});

t.test('bad input', async (t) => {
  const wrong = await run(['crypto', 'convert', '--to', 'base64'], {
    input: '0OIl\n{"text":1}\n{\n["x"]\n3mJr\n',
  });
  t.equal(wrong.code, 1);
  t.match(jsonLines(wrong.stdout), [
    { error: 199, message: /not Base58/ },
    { error: 199, message: /'encryptedText' is missing/ },
    { error: 1 },
    { error: 199 },
    { encryptedText: String },
  ]);
  for (const words of [
    ['convert', '--to', 'base64'],
    ['decrypt', ...as(alice)],
  ]) {
    const nothing = await run(['crypto', ...words], { input: '\n' });
    t.match(nothing, { code: 1, stdout: '', stderr: 'The input is empty\n' });
  }
  const notBase64 = await run(['crypto', 'convert', '--to', 'base58'], { input: '"a b"\n' });
  t.match(jsonLines(notBase64.stdout), [{ error: 199, message: /not Base64/ }]);
  const badKey = await run(['crypto', 'encrypt', '--to', 'abc', ...as(alice)], { input: 'x' });
  t.equal(badKey.code, 1);
  t.match(badKey.stderr, /Can't create public key from string 'abc'/);
  const weak = base58.encode(new Uint8Array(32));
  const nobody = await run(['crypto', 'encrypt', '--to', weak, ...as(alice)], { input: 'x' });
  t.equal(nobody.code, 1);
  t.match(nobody.stderr, /weak key/);
  const twice = await run([...encrypt, '--seed-file', '-'], { input: 'x' });
  t.equal(twice.code, 2);
  t.match(twice.stderr, /cannot both come from stdin/);
  const nameless = await run(encrypt, { input: 'x' });
  t.equal(nameless.code, 2);
  t.match(nameless.stderr, /--sender is missing/);
});
