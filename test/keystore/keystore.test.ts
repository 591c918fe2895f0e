// Accounts on disk and in use: passwords, reload (scenario 109), tampering, the unlock cache.
import t from 'tap';
import { ApiError } from '../../src/base/errors.ts';
import { KeyError, KeystoreError } from '../../src/keystore/keystore-errors.ts';
import { address, alice, bob, family, memoryFiles, open, scheme } from './sample.ts';

const message = new TextEncoder().encode('message');
const code = async (attempt: () => unknown): Promise<unknown> => {
  try {
    await attempt();
  } catch (cause) {
    return cause instanceof ApiError ? cause.code : cause;
  }
  return 'no error';
};

t.test('accounts with and without a password of their own', async (t) => {
  const files = memoryFiles();
  const first = await open(files);
  t.same(first.accounts(), [], 'a keystore that does not exist is empty');
  await first.add([
    { privateKey: alice.privateKey },
    { privateKey: bob.privateKey, password: 'b' },
  ]);
  const keystore = await open(files);
  t.same(
    keystore.addresses(),
    [alice, bob].map((key) => scheme.addressToText(address(key))),
  );
  t.same(keystore.publicKey(address(bob)), bob.publicKey);
  t.same(Buffer.from(await keystore.privateKey(address(alice))), Buffer.from(alice.privateKey));
  t.same(Buffer.from(await keystore.privateKey(address(bob), 'b')), Buffer.from(bob.privateKey));
  const signature = await keystore.sign(address(bob), 'b', message);
  t.ok(family.verify(bob.publicKey, message, signature));
  const text = new TextDecoder().decode(files.content.get('wallet'));
  for (const secret of [alice, bob].map((key) => Buffer.from(key.privateKey).toString('base64'))) {
    t.notOk(text.includes(secret));
  }
});

t.test('the operator hears what is wrong, a request does not', async (t) => {
  const files = memoryFiles();
  const keystore = await open(files);
  await keystore.add([
    { privateKey: alice.privateKey },
    { privateKey: bob.privateKey, password: 'b' },
  ]);
  const stranger = address(family.keyPairFromPhrase('stranger'));
  const cases: [Uint8Array, string | undefined, string][] = [
    [address(bob), 'wrong', 'Wrong password'],
    [address(bob), undefined, 'Expected password'],
    [address(bob), '', 'Expected password'],
    [address(alice), 'wrong', 'Wrong password'],
    [stranger, undefined, "Key wasn't found"],
    [stranger, 'wrong', "Key wasn't found"],
  ];
  for (const [who, password, problem] of cases) {
    const alias = scheme.addressToText(who);
    const error = await keystore.privateKey(who, password).catch((cause: unknown) => cause);
    t.ok(error instanceof KeyError);
    t.equal((error as Error).message, `Failed to get key for ${alias}: ${problem}`);
    t.equal(await code(() => keystore.sign(who, password, message)), 115);
    t.equal(await code(() => keystore.requestKey(who, password)), 115);
  }
  t.ok(await keystore.requestKey(address(alice), ''), 'an empty password is none');
});

t.test('wrong wallet password, tampering, other files', async (t) => {
  const files = memoryFiles();
  await (await open(files)).add([{ privateKey: alice.privateKey }, { privateKey: bob.privateKey }]);
  await t.rejects(open(files, { password: 'x' }), { message: /^Wrong password of the wallet/ });
  const text = new TextDecoder().decode(files.content.get('wallet'));
  const json = JSON.parse(text);
  const changes: Record<string, (copy: typeof json) => void> = {
    'an entry dropped': (copy) => copy.entries.pop(),
    'keys swapped': ({ entries: [a, b] }) => {
      [a.privateKey, b.privateKey] = [b.privateKey, a.privateKey];
    },
    'an entry said to have a password': (copy) => {
      copy.entries[0].password = true;
    },
    'an unknown version': (copy) => {
      copy.version = 3;
    },
    'an absurd cost': (copy) => {
      copy.kdf.N = 2 ** 40;
    },
    'a broken key': (copy) => {
      copy.entries[0].privateKey = '!!';
    },
    'no list': (copy) => {
      copy.entries = {};
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    const copy = structuredClone(json);
    change(copy);
    files.content.set('wallet', new TextEncoder().encode(JSON.stringify(copy)));
    await t.rejects(open(files), KeystoreError, what);
  }
  for (const N of [0, 1025, 1536, 2 ** 20 + 1]) {
    const copy = { ...json, kdf: { ...json.kdf, N } };
    files.content.set('wallet', new TextEncoder().encode(JSON.stringify(copy)));
    await t.rejects(open(files), { message: /damaged: N$/ }, `N = ${N}`);
  }
  files.content.set('wallet', new TextEncoder().encode(text));
  t.equal((await open(files)).accounts().length, 2, 'the original still opens');
  for (const other of ['', '{}', '[]', 'AAAA', '\uffff'].slice(1)) {
    files.content.set('wallet', new TextEncoder().encode(other));
    await t.rejects(open(files), { message: /not a key file of version 2/ }, other);
  }
});

t.test('reload takes new accounts, and a broken file changes nothing', async (t) => {
  const files = memoryFiles();
  const node = await open(files);
  await node.add([{ privateKey: alice.privateKey, password: 'a' }]);
  await node.sign(address(alice), 'a', message);
  await (await open(files)).add([{ privateKey: bob.privateKey }]);
  t.equal(node.addresses().length, 1);
  await node.reload();
  t.equal(node.addresses().length, 2);
  t.ok(family.verify(bob.publicKey, message, await node.sign(address(bob), undefined, message)));

  const good = files.content.get('wallet')!;
  for (const broken of ['{"version":2', '', '{"version":1}']) {
    files.content.set('wallet', new TextEncoder().encode(broken));
    t.equal(await code(() => node.reload()), 199, JSON.stringify(broken));
    t.equal(node.addresses().length, 2);
    t.ok(family.verify(alice.publicKey, message, await node.sign(address(alice), 'a', message)));
  }
  files.content.delete('wallet');
  t.equal(await code(() => node.reload()), 199, 'a missing file');
  const foreign = memoryFiles();
  await (await open(foreign, { password: 'other' })).add([{ privateKey: bob.privateKey }]);
  files.content.set('wallet', foreign.content.get('wallet')!);
  t.equal(await code(() => node.reload()), 199, 'another wallet password');
  files.content.set('wallet', good);
  await node.reload();
  t.equal(node.addresses().length, 2);
});

t.test('an unlocked account needs no second derivation, another password does', async (t) => {
  const keystore = await open(memoryFiles());
  await keystore.add([{ privateKey: alice.privateKey, password: 'a' }]);
  t.ok(keystore.requestKey(address(alice), 'a') instanceof Promise, 'first: derived elsewhere');
  await keystore.requestKey(address(alice), 'a');
  const key = keystore.requestKey(address(alice), 'a');
  t.ok(key instanceof Uint8Array, 'then: at once');
  (key as Uint8Array).fill(0);
  t.same(
    Buffer.from(await keystore.requestKey(address(alice), 'a')),
    Buffer.from(alice.privateKey),
    'the caller got a copy',
  );
  const wrong = keystore.requestKey(address(alice), 'b');
  t.ok(wrong instanceof Promise, 'a wrong password pays for its derivation');
  t.equal(await code(() => wrong), 115);
  await keystore.reload();
  const anew = keystore.requestKey(address(alice), 'a');
  t.ok(anew instanceof Promise, 'forgotten by a reload');
  await anew;
  keystore.close();
  t.equal(await code(() => keystore.requestKey(address(alice), 'a')), 115, 'nothing after close');
});

t.test('guesses queue up to a limit', async (t) => {
  const keystore = await open(memoryFiles());
  await keystore.add([{ privateKey: alice.privateKey, password: 'a' }]);
  const codes = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      code(() => keystore.sign(address(alice), `${i}`, message)),
    ),
  );
  t.ok(codes.includes(503), 'the rest is refused');
  t.ok(codes.filter((found) => found === 115).length >= 33, 'one runs and 32 wait');
  t.same([...new Set(codes)].sort(), [115, 503]);
  t.ok(await keystore.sign(address(alice), 'a', message), 'and it goes on afterwards');
});

t.test('the same request twice derives once', async (t) => {
  const keystore = await open(memoryFiles());
  await keystore.add([{ privateKey: alice.privateKey, password: 'a' }]);
  const signatures = await Promise.all(
    Array.from({ length: 100 }, () => keystore.sign(address(alice), 'a', message)),
  );
  for (const signature of signatures) t.ok(family.verify(alice.publicKey, message, signature));
});

t.test('adding: no duplicates, and additions of others are kept', async (t) => {
  const files = memoryFiles();
  const one = await open(files);
  const two = await open(files);
  t.equal((await one.add([{ privateKey: alice.privateKey }])).length, 1);
  t.equal((await two.add([{ privateKey: bob.privateKey }])).length, 1);
  t.equal((await two.add([{ privateKey: alice.privateKey }])).length, 0);
  t.equal((await open(files)).accounts().length, 2);
});

t.test('the other layout: a folder with one file per account', async (t) => {
  const files = memoryFiles();
  const keystore = await open(files, { layout: 'directory' });
  await keystore.add([{ privateKey: alice.privateKey }]);
  await keystore.add([{ privateKey: bob.privateKey, password: 'b' }]);
  t.equal(files.content.size, 2);
  t.notOk(files.content.has('wallet'));
  const again = await open(files, { layout: 'directory' });
  t.equal(again.accounts().length, 2);
  t.ok(await again.privateKey(address(bob), 'b'));
  await t.rejects(open(files), { message: /is a folder, but .* must be a file/ });
  const single = memoryFiles();
  await (await open(single)).add([{ privateKey: alice.privateKey }]);
  await t.rejects(open(single, { layout: 'directory' }), { message: /must be a folder/ });
});

t.test('wrong passwords on /crypto take no turn from signing', async (t) => {
  const keystore = await open(memoryFiles());
  await keystore.add([{ privateKey: bob.privateKey, password: 'b' }]);
  const guesses = Array.from({ length: 40 }, (_, i) =>
    code(() => keystore.requestKey(address(bob), `guess ${i}`)),
  );
  const signature = await keystore.sign(address(bob), 'b', message);
  t.ok(family.verify(bob.publicKey, message, signature));
  const codes = await Promise.all(guesses);
  t.equal(codes.filter((one) => one === 503).length, 40 - 33, 'one at work, 32 in the line');
  t.equal(codes.filter((one) => one === 115).length, 33);
});
