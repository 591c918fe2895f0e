// Another password of the wallet, and of an account: all keys go on, the old password opens nothing.
import t from 'tap';
import type { KeystoreFiles } from '../../src/keystore/account-files.ts';
import { openKeystore } from '../../src/keystore/keystore.ts';
import { KeyError } from '../../src/keystore/keystore-errors.ts';
import { changeWalletPassword } from '../../src/keystore/wallet-password.ts';
import { address, alice, bob, CHEAP, family, memoryFiles, open, random, scheme } from './sample.ts';

const OLD = 'wallet password';
const NEW = 'another password';
type Layout = 'file' | 'directory';

async function made(layout: Layout) {
  const files = memoryFiles();
  await (await open(files, { layout })).add([
    { privateKey: alice.privateKey },
    { privateKey: bob.privateKey, password: 'b' },
  ]);
  return files;
}

const change = (
  files: KeystoreFiles,
  layout: Layout,
  own: string | (() => Promise<string>) = 'b',
  password = OLD,
) =>
  changeWalletPassword(
    { path: 'wallet', layout, password, cost: CHEAP },
    { files, random, family, scheme },
    NEW,
    async () => (typeof own === 'string' ? own : own()),
  );

for (const layout of ['file', 'directory'] as const) {
  t.test(`the password of a wallet: ${layout}`, async (t) => {
    const files = await made(layout);
    await change(files, layout);
    await t.rejects(open(files, { layout }), /^.*Wrong password of the wallet/);
    const keystore = await open(files, { layout, password: NEW });
    t.same(Buffer.from(await keystore.privateKey(address(alice))), Buffer.from(alice.privateKey));
    t.same(Buffer.from(await keystore.privateKey(address(bob), 'b')), Buffer.from(bob.privateKey));
  });

  t.test(`nothing is written where a password is wrong: ${layout}`, async (t) => {
    const files = await made(layout);
    const before = new Map(files.content);
    const wrong = {
      message: `Failed to get key for ${scheme.addressToText(address(bob))}: Wrong password`,
    };
    await t.rejects(change(files, layout, 'wrong'), wrong);
    await t.rejects(change(files, layout, 'b', 'wrong'), /Wrong password of the wallet/);
    t.strictSame(files.content, before);
    await t.rejects(change(memoryFiles(), layout), /missing or empty/);
  });

  t.test(`keys that came while it asked stay: ${layout}`, async (t) => {
    const files = await made(layout);
    const carol = family.keyPairFromPhrase('carol');
    const meanwhile = async (): Promise<string> => {
      await (await open(files, { layout })).add([{ privateKey: carol.privateKey }]);
      return 'b';
    };
    await t.rejects(change(files, layout, meanwhile), {
      name: 'KeystoreError',
      message: /was changed meanwhile, nothing is written: run it again/,
    });
    t.ok(await (await open(files, { layout })).privateKey(address(carol)));
    await change(files, layout);
    t.equal((await open(files, { layout, password: NEW })).accounts().length, 3);
  });
}

t.test('a folder of which a part is written is completed by the next run', async (t) => {
  const files = await made('directory');
  let left = 1;
  const full = {
    ...files,
    replace(path: string, bytes: Uint8Array) {
      if (left-- === 0) throw new Error('the disk is full');
      files.replace(path, bytes);
    },
  };
  await t.rejects(change(full, 'directory'), /disk is full/);
  await t.rejects(open(files, { layout: 'directory' }), /Wrong password of the wallet/);
  await t.rejects(open(files, { layout: 'directory', password: NEW }), /Wrong password/);
  await change(files, 'directory');
  const keystore = await open(files, { layout: 'directory', password: NEW });
  t.equal(keystore.accounts().length, 2);
  t.same(Buffer.from(await keystore.privateKey(address(bob), 'b')), Buffer.from(bob.privateKey));
});

t.test('a running keystore takes the new password over, or stays as it was', async (t) => {
  const files = await made('file');
  const keystore = await open(files);
  await change(files, 'file');
  await t.rejects(keystore.reload(), { message: /former one stays in use/ });
  await t.rejects(keystore.reload('wrong'), { message: /former one stays in use/ });
  t.ok(await keystore.privateKey(address(bob), 'b'));
  await keystore.reload(NEW);
  t.ok(await keystore.privateKey(address(bob), 'b'));
  await keystore.reload();
  t.equal(keystore.accounts().length, 2, 'and keeps it');
});

for (const layout of ['file', 'directory'] as const) {
  t.test(`the password of an account: ${layout}`, async (t) => {
    const files = await made(layout);
    const keystore = await open(files, { layout });
    const to = (who: Uint8Array, current: string | undefined, next: string) =>
      keystore.changeAccountPassword(who, current, next);
    const before = new Map(files.content);
    await t.rejects(to(address(bob), 'wrong', 'c'), KeyError);
    await t.rejects(to(address(bob), undefined, 'c'), KeyError);
    t.strictSame(files.content, before);
    await to(address(bob), 'b', 'c');
    await to(address(alice), undefined, 'a');
    for (const one of [keystore, await open(files, { layout })]) {
      await t.rejects(one.privateKey(address(bob), 'b'), KeyError);
      t.same(Buffer.from(await one.privateKey(address(bob), 'c')), Buffer.from(bob.privateKey));
      t.same(Buffer.from(await one.privateKey(address(alice), 'a')), Buffer.from(alice.privateKey));
    }
    await to(address(bob), 'c', '');
    t.ok(await keystore.privateKey(address(bob)), 'an empty password is none');
  });
}

for (const layout of ['file', 'directory'] as const) {
  t.test(`two keystores that are written at once: ${layout}`, async (t) => {
    const files = await made(layout);
    const one = await open(files, { layout });
    const other = await open(files, { layout });
    const phrases = ['carol', 'dave', 'erin', 'frank'].map((name) =>
      family.keyPairFromPhrase(name),
    );
    const added = phrases.map(({ privateKey }, i) => (i % 2 ? one : other).add([{ privateKey }]));
    const changed = one.changeAccountPassword(address(bob), 'b', 'c');
    await Promise.all([...added, changed]);
    const all = await open(files, { layout });
    t.equal(all.accounts().length, 6);
    t.ok(await all.privateKey(address(bob), 'c'));
    await t.rejects(other.changeAccountPassword(address(bob), 'b', 'd'), {
      name: 'KeystoreError',
      message: /was changed meanwhile, nothing is written: run it again/,
    });
    t.ok(await (await open(files, { layout })).privateKey(address(bob), 'c'));
  });
}

t.test('no password of an account in a file that is cheap to guess', async (t) => {
  const files = memoryFiles();
  const costs = { cheap: { N: 2 ** 9, r: 8, p: 1 }, dear: CHEAP };
  const place = { path: 'wallet', layout: 'file', password: OLD } as const;
  const deps = { files, random, family, scheme };
  const wallet = await openKeystore({ ...place, cost: costs.cheap }, deps);
  await wallet.add([{ privateKey: alice.privateKey }]);
  const dear = { ...place, cost: costs.dear };
  const own = { privateKey: bob.privateKey, password: 'b' };
  const isRefused = { name: 'KeystoreError', message: /cheap to guess .*keystore passwd/ };
  await t.rejects((await openKeystore(dear, deps)).add([own]), isRefused);
  await t.rejects(
    (await openKeystore(dear, deps)).changeAccountPassword(address(alice), undefined, 'a'),
    isRefused,
  );
  await (await openKeystore(dear, deps)).add([{ privateKey: bob.privateKey }]);

  await changeWalletPassword(dear, deps, OLD, async () => '');
  const { kdf } = JSON.parse(new TextDecoder().decode(files.content.get('wallet')));
  t.equal(kdf.N, costs.dear.N, 'the same password makes it dear');
  await (await openKeystore(dear, deps)).add([
    { ...own, privateKey: family.keyPairFromPhrase('carol').privateKey },
  ]);
});
