// A backup of a node at work: complete, checked, and a node goes on from it.
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { files } from '../../../src/adapters/files.ts';
import { lockFolder } from '../../../src/adapters/folder-lock.ts';
import { base58 } from '../../../src/base/base58.ts';
import { jsonLines, run } from '../../cli/run.ts';
import { startNode, temporaryFolder } from './dev-node.ts';
import { API_KEY, networkFolder, OWNER, WALLET_PASSWORD } from './network-folder.ts';
import { eventually } from './process.ts';

const transfer = { type: 4, version: 2, sender: OWNER.address, recipient: OWNER.address };
const hashOf = async (...args: string[]) =>
  jsonLines((await run(['chain', 'hash', ...args])).stdout)[0];

t.test('of a node at work, and a node that goes on from it', async (t) => {
  const { dir, config } = await networkFolder(t);
  const node = await startNode(t, config, { apiKey: API_KEY });
  let isSending = true;
  let sent = 0;
  const sending = (async () => {
    while (isSending) {
      await node.rest.broadcast(
        await node.rest.sign({ ...transfer, amount: 1, fee: 1_000_000 + sent }),
      );
      sent += 1;
    }
  })();
  await eventually('some blocks', async () =>
    (await node.rest.height()) > 5 && sent > 20 ? true : undefined,
  );
  const backup = join(dir, 'backup');
  const made = await run(['backup', 'create', config, backup, '--with-keystore']);
  t.equal(made.code, 0, made.stderr);
  const [facts] = jsonLines(made.stdout);
  const height = Number(facts?.['height']);
  const copy = join(dir, 'copy.bin');
  const exported = await run(['chain', 'export', config, copy, '--running']);
  t.match(jsonLines(exported.stdout)[0], { to: Number }, exported.stderr);
  t.match(await hashOf(config, String(height), '--running'), {
    height,
    stateHash: facts?.['stateHash'],
  });
  t.strictSame(
    readdirSync(join(dir, 'data')).filter((name) => name.startsWith('copy-')),
    [],
  );
  for (const words of [
    ['hash', config],
    ['export', config, copy],
  ]) {
    const locked = await run(['chain', ...words]);
    t.equal(locked.code, 75, 'only on a copy');
    t.match(locked.stderr, /or add --running$/m);
  }
  isSending = false;
  await sending;
  t.ok((await node.rest.height()) >= height, 'the node goes on');

  const names = ['chain', 'keystore', 'manifest.json', 'node.conf'];
  t.strictSame(readdirSync(backup), names);
  t.strictSame(readdirSync(join(backup, 'chain')), ['data.mdb']);
  const [key] = readdirSync(join(backup, 'keystore'));
  for (const name of ['.', 'manifest.json', 'node.conf', `keystore/${key}`]) {
    t.equal(statSync(join(backup, name)).mode & 0o077, 0, `${name} is for its owner alone`);
  }
  // The configuration has what its operator wrote into it; nothing else may say it.
  const secrets = [
    WALLET_PASSWORD,
    API_KEY,
    Buffer.from(OWNER.privateKey),
    base58.encode(OWNER.privateKey),
  ];
  for (const name of ['manifest.json', 'chain/data.mdb', `keystore/${key}`]) {
    const bytes = readFileSync(join(backup, name));
    t.notOk(
      secrets.some((secret) => bytes.includes(secret)),
      `${name} has no secret`,
    );
  }
  t.ok(readFileSync(join(backup, 'node.conf')).includes(WALLET_PASSWORD), 'one would be found');
  t.match(jsonLines((await run(['backup', 'verify', backup])).stdout)[0], {
    ...facts,
    files: 3,
    bytes: undefined,
  });
  if (process.getuid?.() === 0) {
    const stranger = await run(['backup', 'verify', backup], { uid: 65534 });
    t.match(stranger.stderr, /manifest\.json' cannot be read by this user/);
  }
  t.match((await run(['backup', 'create', config, backup])).stderr, /exists already/);

  const other = temporaryFolder(t);
  const path = join(other, 'node.conf');
  writeFileSync(path, readFileSync(config, 'utf8').replaceAll(dir, other));
  const restored = await run(['backup', 'restore', backup, path]);
  t.match(
    jsonLines(restored.stdout)[0],
    { height, keystore: 'restored', stateHash: facts?.['stateHash'] },
    restored.stderr,
  );
  t.match(await hashOf(path), { height, stateHash: facts?.['stateHash'] });
  t.match((await run(['backup', 'restore', backup, path])).stderr, /has a chain: stop the node/);
  const second = await startNode(t, path, { apiKey: API_KEY });
  await eventually('another block', async () =>
    (await second.rest.height()) > height ? true : undefined,
  );
});

t.test('what is no good backup changes nothing', async (t) => {
  const { dir, config } = await networkFolder(t);
  await (await startNode(t, config, { apiKey: API_KEY })).stop();
  const backup = join(dir, 'backup');
  t.equal((await run(['backup', 'create', config, backup])).code, 0, 'of a stopped node');
  t.notOk(existsSync(join(backup, 'keystore')), 'keys only where they are asked for');
  const data = join(dir, 'data');
  const chain = join(data, 'chain');
  rmSync(chain, { recursive: true });
  const refused = async (why: RegExp): Promise<void> => {
    const { code, stderr, stdout } = await run(['backup', 'restore', backup, config]);
    t.match([code, stdout], [1, '']);
    t.match(stderr, why);
    t.notOk(existsSync(chain));
  };
  const manifest = join(backup, 'manifest.json');
  const text = readFileSync(manifest, 'utf8');
  const ofAnother = /damaged, or of another release/;
  const different = /has (height|blockId|stateHash) \w+, but the manifest says/;
  const broken: readonly (readonly [from: RegExp, to: string, why: RegExp])[] = [
    [/chain\/data\.mdb/, '../data.mdb', ofAnother],
    [/node\.conf/, 'keystore/../../x', ofAnother],
    [/chain\/data\.mdb/, 'keystore/data.mdb', ofAnother],
    [/"height": \d+/, '"height": "5"', ofAnother],
    [/"version": 1/, '"version": 2', ofAnother],
    [/node\.conf/, 'keystore/..', ofAnother],
    [/node\.conf/, 'included/../x', ofAnother],
    [/node\.conf/, 'included/a/../../../x', ofAnother],
    [/node\.conf/, 'included//x', ofAnother],
    [/"height": \d+/, '"height": 1000000', different],
    [/"blockId": "\w+"/, '"blockId": "x"', different],
    [/"stateHash": "\w+"/, '"stateHash": "x"', different],
    [/"genesisId": "\w+"/, '"genesisId": "x"', /of another network/],
    [/"sha256": "\w+"/, `"sha256": "${'0'.repeat(64)}"`, /is not what was backed up/],
  ];
  for (const [from, to, why] of broken) {
    t.match(text, from);
    writeFileSync(manifest, text.replace(from, to));
    await refused(why);
  }
  writeFileSync(manifest, '{');
  await refused(/damaged/);
  writeFileSync(manifest, text);
  const file = join(backup, 'chain/data.mdb');
  const bytes = readFileSync(file);
  appendFileSync(file, 'x');
  await refused(/is not what was backed up/);
  rmSync(file);
  await refused(/is missing/);
  writeFileSync(file, bytes);
  writeFileSync(join(dir, 'finality-note'), 'of a key that has voted');
  await refused(/note of a voter/);
  rmSync(join(dir, 'finality-note'));
  const done = await run(['backup', 'restore', backup, config]);
  t.match(jsonLines(done.stdout)[0], { keystore: 'not in the backup' }, done.stderr);
  rmSync(manifest);
  t.match((await run(['backup', 'verify', backup])).stderr, /is no backup/);
});

t.test('files that others have stay, and a link to the folder of the chain', async (t) => {
  const { dir, config, edit } = await networkFolder(t);
  await (await startNode(t, config, { apiKey: API_KEY })).stop();
  const path = join(dir, 'keystore.dat');
  const odd = join(dir, 'the keys (old) of öne.dat');
  renameSync(path, odd);
  edit(path, odd);
  const backup = join(dir, 'backup');
  mkdirSync(`${backup}.part`);
  const both = await Promise.all(
    [1, 2].map(() => run(['backup', 'create', config, backup, '--with-keystore'])),
  );
  t.strictSame(both.map(({ code }) => code).sort(), [0, 1], both.map((one) => one.stderr).join());
  t.match(both.find(({ code }) => code === 1)?.stderr, /exists already/);
  const left = readdirSync(dir).filter((name) => name.startsWith('backup'));
  t.strictSame(left, ['backup', 'backup.part']);

  const chain = join(dir, 'data/chain');
  rmSync(chain, { recursive: true });
  const volume = join(dir, 'volume');
  mkdirSync(volume);
  symlinkSync(volume, chain);
  const lock = await lockFolder(volume);
  const locked = await run(['backup', 'restore', backup, config]);
  lock.release();
  t.match([locked.code, locked.stderr], [75, /another process uses the folder/]);
  t.strictSame(readdirSync(volume), []);
  const keys = join(dir, 'keys');
  renameSync(odd, keys);
  const contentOf = (path: string) =>
    files.isDirectory(path)
      ? files.list(path).map((name) => [name, readFileSync(join(path, name))])
      : readFileSync(path);
  if (files.isDirectory(keys)) {
    mkdirSync(odd);
    writeFileSync(join(odd, 'note'), '');
    const refused = await run(['backup', 'restore', backup, config]);
    t.match([refused.code, refused.stderr], [1, /has other files than keys/]);
    t.strictSame(readdirSync(volume), []);
    rmSync(join(odd, 'note'));
  } else {
    writeFileSync(odd, '');
  }
  // A name to which no temporary one can be made.
  const long = `wallet.file=${join(dir, 'k'.repeat(250))}`;
  const unwritable = await run(['backup', 'restore', backup, config, '--set', long]);
  t.match([unwritable.code, unwritable.stderr], [1, /ENAMETOOLONG/]);
  t.strictSame(readdirSync(volume), [], 'no chain without its keystore');
  const done = await run(['backup', 'restore', backup, config]);
  t.match(jsonLines(done.stdout)[0], { keystore: 'restored' }, done.stderr);
  t.strictSame(contentOf(odd), contentOf(keys));
  t.strictSame(
    readdirSync(dir).filter((name) => name.includes('.part-')),
    [],
  );
  t.ok(lstatSync(chain).isSymbolicLink());
  t.strictSame(readdirSync(volume), ['data.mdb']);
});

t.test('a backup that cannot be made leaves nothing', async (t) => {
  const { dir, config } = await networkFolder(t);
  const backup = join(dir, 'backup');
  const none = await run(['backup', 'create', config, backup]);
  t.match([none.code, none.stderr], [1, /no store in/]);
  await (await startNode(t, config, { apiKey: API_KEY })).stop();
  const file = join(dir, 'data/chain/data.mdb');
  const bytes = readFileSync(file);
  for (let at = 8192; at < bytes.length; at += 4096) bytes.fill(0x5a, at + 64, at + 80);
  writeFileSync(file, bytes);
  const damaged = await run(['backup', 'create', config, backup]);
  t.match([damaged.code, damaged.stderr], [1, /damaged/]);
  t.match((await run(['chain', 'hash', config, '--running'])).stderr, /damaged/);
  t.notOk(readdirSync(join(dir, 'data')).some((name) => name.startsWith('copy-')));
  t.strictSame(
    readdirSync(dir).filter((name) => name.startsWith('backup')),
    [],
  );
  mkdirSync(join(dir, 'there'));
  t.match((await run(['backup', 'create', config, join(dir, 'there')])).stderr, /exists already/);
});

t.test('what the configuration includes comes back with it, and through no link', async (t) => {
  const { dir, config } = await networkFolder(t);
  const whole = readFileSync(config, 'utf8');
  mkdirSync(join(dir, 'parts'));
  const [first, second] = [join(dir, 'parts', 'base.conf'), join(dir, 'more.conf')];
  writeFileSync(first, `${whole}\ninclude "../more.conf"\n`);
  writeFileSync(second, 'node.network.node-name = "included"\n');
  writeFileSync(config, 'include "parts/base.conf"\ninclude "absent.conf"\n');
  const node = await startNode(t, config, { apiKey: API_KEY });
  await eventually('a block', async () => (await node.rest.height()) > 1 || undefined);
  await node.stop();
  const backup = join(dir, 'backup');
  const made = await run(['backup', 'create', config, backup]);
  t.equal(made.code, 0, made.stderr);
  const written = [config, first, second].map((path) => readFileSync(path, 'utf8'));

  renameSync(join(dir, 'data'), join(dir, 'data-before'));
  for (const path of [config, first]) rmSync(path);
  writeFileSync(second, 'node.network.node-name = "changed since"\n');
  const others = temporaryFolder(t);
  renameSync(join(dir, 'parts'), join(dir, 'parts-before'));
  symlinkSync(others, join(dir, 'parts'));
  const refused = await run(['backup', 'restore', backup, config]);
  t.match(refused, { code: 1, stderr: /is a link: a backup restores nothing through it/ });
  t.strictSame([existsSync(config), ...readdirSync(others)], [false]);
  rmSync(join(dir, 'parts'));
  const restored = await run(['backup', 'restore', backup, config]);
  t.match(jsonLines(restored.stdout)[0], { configuration: [config, first] }, restored.stderr);
  t.match(readFileSync(second, 'utf8'), /changed since/, 'what is there stays');
  t.equal(statSync(first).mode & 0o077, 0);
  rmSync(second);
  renameSync(join(dir, 'data'), join(dir, 'data-again'));
  t.equal((await run(['backup', 'restore', backup, config])).code, 0);
  t.strictSame(
    [config, first, second].map((path) => readFileSync(path, 'utf8')),
    written,
  );

  writeFileSync(join(dir, 'parts', 'base.conf'), `${whole}\ninclude "${others}/out.conf"\n`);
  writeFileSync(join(others, 'out.conf'), '');
  const outside = await run(['backup', 'create', config, join(dir, 'second')]);
  t.match(outside, { code: 1, stderr: /not below its folder/ });
  t.notOk(existsSync(join(dir, 'second')));
});
