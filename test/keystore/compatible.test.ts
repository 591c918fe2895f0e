// The key file of other nodes, against an implementation of its description in this test.
import { createCipheriv, createDecipheriv, createHash, pbkdf2Sync } from 'node:crypto';
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import {
  hasPassword,
  openEntry,
  readCompatible,
  writeCompatible,
} from '../../src/keystore/compatible.ts';
import { alice, bob, random } from './sample.ts';

const SALT = '0495c728-1614-41f6-8ac3-966c22b4a62d';
const key = pbkdf2Sync('wallet', SALT, 999_999, 16, 'sha512');

function theirs(entries: object[]): Uint8Array {
  const cipher = createCipheriv('aes-128-ecb', key, null);
  const json = JSON.stringify({ entries });
  return Buffer.from(cipher.update(json, 'utf8', 'base64') + cipher.final('base64'));
}

function theirKey(privateKey: Uint8Array, password: string): Uint8Array {
  const iv = Buffer.alloc(16, 3);
  const cipher = createCipheriv('aes-128-gcm', createHash('md5').update(password).digest(), iv);
  return Buffer.concat([iv, cipher.update(privateKey), cipher.final(), cipher.getAuthTag()]);
}

t.test('reads a file made elsewhere', async (t) => {
  const file = theirs([
    { publicKey: base58.encode(alice.publicKey), privateKey: base58.encode(alice.privateKey) },
    {
      publicKey: base58.encode(bob.publicKey),
      privateKey: base58.encode(theirKey(bob.privateKey, 'b')),
    },
  ]);
  const [first, second] = await readCompatible(file, 'wallet');
  t.notOk(hasPassword(first!));
  t.same(Buffer.from(openEntry(first!, undefined)!), Buffer.from(alice.privateKey));
  t.ok(hasPassword(second!));
  t.same(Buffer.from(openEntry(second!, 'b')!), Buffer.from(bob.privateKey));
  t.equal(openEntry(second!, 'x'), undefined);
  t.equal(openEntry(second!, undefined), undefined);
  await t.rejects(readCompatible(file, 'wrong'), { message: 'Wrong password' });
  t.same(await readCompatible(new Uint8Array(0), 'wallet'), [], 'an empty file has no accounts');
  await t.rejects(readCompatible(Buffer.from('{"version":2}'), 'wallet'), {
    message: /not Base64/,
  });
  const broken = theirs([{ publicKey: 'abc', privateKey: 'abc' }]);
  await t.rejects(readCompatible(broken, 'wallet'), { message: /damaged/ });
});

t.test('writes what others read', async (t) => {
  const file = await writeCompatible([{ ...alice }, { ...bob, password: 'b' }], 'wallet', random);
  const decipher = createDecipheriv('aes-128-ecb', key, null);
  const text = Buffer.from(file).toString('ascii');
  const json = decipher.update(text, 'base64', 'utf8') + decipher.final('utf8');
  const { entries } = JSON.parse(json);
  t.equal(entries[0].publicKey, base58.encode(alice.publicKey));
  t.equal(entries[0].privateKey, base58.encode(alice.privateKey));
  const sealed = Buffer.from(base58.decode(entries[1].privateKey));
  t.equal(sealed.length, 64);
  const open = createDecipheriv(
    'aes-128-gcm',
    createHash('md5').update('b').digest(),
    sealed.subarray(0, 16),
  ).setAuthTag(sealed.subarray(48));
  t.same(open.update(sealed.subarray(16, 48)), Buffer.from(bob.privateKey));
  open.final();
});
