// Root runs the commands on the files of another user, as an operator does who forgets `sudo -u`.
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { base58 } from '../../../src/base/base58.ts';
import { run } from '../../cli/run.ts';
import { startNode } from './dev-node.ts';
import { flipIn } from './flipped-bit.ts';
import { API_KEY, networkFolder, WALLET_PASSWORD } from './network-folder.ts';
import { eventually } from './process.ts';

const UID = 54_321;
const GID = 54_322;
const skip = process.getuid?.() === 0 ? false : 'only root changes owners';
t.setTimeout(180_000);

t.test('every file that root rewrites stays the file of its owner', { skip }, async (t) => {
  const { config, dir } = await networkFolder(t);
  const first = await startNode(t, config, { apiKey: API_KEY });
  await eventually('blocks', async () => ((await first.rest.height()) > 6 ? true : undefined));
  const { body } = await first.rest.get('/blocks/at/5');
  await first.stop();
  const paths = () =>
    readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .map((name) => join(dir, name))
      .filter((path) => lstatSync(path).isFile());
  const before = paths();
  for (const path of before) {
    chownSync(path, UID, GID);
    chmodSync(path, 0o640);
  }
  const given = (paths: readonly string[]) =>
    paths.map((path) => {
      const { uid, gid, mode } = lstatSync(path);
      return [path, uid, gid, (mode & 0o777).toString(8)];
    });
  const kept = given(before);
  for (const name of ['pool.journal', 'turns.journal', 'chain/data.mdb', 'chain/checked.json']) {
    t.ok(before.includes(join(dir, 'data', name)), name);
  }
  for (const name of ['node.conf', 'keystore.dat', 'peers.dat']) {
    t.ok(before.includes(join(dir, name)), name);
  }

  const rolled = await run(['chain', 'rollback', config, '6']);
  t.equal(rolled.code, 0, rolled.stderr);
  const accounts = join(dir, 'accounts.conf');
  const wallet = `wallet = "${dir}/keystore.dat", wallet-password = "${WALLET_PASSWORD}"`;
  writeFileSync(accounts, `accounts-generator { chain-id = "T", ${wallet} }`);
  const generated = await run(['keystore', 'generate', accounts, '--empty-passwords']);
  t.equal(generated.code, 0, generated.stderr);
  const journal = join(dir, 'data', 'pool.journal');
  const header = readFileSync(journal).fill(0, 0, 100);
  writeFileSync(journal, header);
  await flipIn(join(dir, 'data', 'chain', 'data.mdb'), base58.decode((body as Block).signature));
  const again = await startNode(t, config, { apiKey: API_KEY });
  t.match(again.log(), /store\.rebuilt/);
  t.match(again.log(), /pool\.journal-damaged/);
  await again.stop();
  const signed = await run(['genesis', 'sign', '--force', config]);
  t.equal(signed.code, 0, signed.stderr);
  t.strictSame(given(before), kept);
  const copies = paths().filter(
    (path) => /\.old\.|\.damaged-/.test(path) && !before.includes(path),
  );
  t.equal(copies.length, 2, copies.join());
  t.strictSame(
    given(copies).map(([, ...rest]) => rest),
    copies.map(() => [UID, GID, '640']),
    'and so do the copies',
  );
});

t.test('what root restores belongs to the owner of its folder', { skip }, async (t) => {
  const { config, dir, edit } = await networkFolder(t);
  await (await startNode(t, config, { apiKey: API_KEY })).stop();
  const backup = join(dir, 'backup');
  const made = await run(['backup', 'create', config, backup, '--with-keystore']);
  t.equal(made.code, 0, made.stderr);
  const home = join(dir, 'home');
  mkdirSync(home);
  chownSync(home, UID, GID);
  edit(`data-directory = "${dir}/data"`, `data-directory = "${home}/of/data"`);
  edit(`${dir}/keystore.dat`, `${home}/keys/keystore.dat`);
  const restored = await run(['backup', 'restore', backup, config]);
  t.equal(restored.code, 0, restored.stderr);
  const paths = readdirSync(home, { recursive: true, encoding: 'utf8' }).sort();
  for (const name of ['of/data/chain/data.mdb', 'keys/keystore.dat'])
    t.ok(paths.includes(name), name);
  t.strictSame(
    paths.filter((name) => {
      const { uid, gid } = lstatSync(join(home, name));
      return uid !== UID || gid !== GID;
    }),
    [],
  );
});

t.test('what root makes before the first start locks nobody out', { skip }, async (t) => {
  const { config, dir } = await networkFolder(t);
  for (const name of ['.', ...readdirSync(dir)]) chownSync(join(dir, name), UID, GID);
  const accounts = join(dir, 'accounts.conf');
  const wallet = `wallet = "${dir}/wallet/keystore.dat", wallet-password = "${WALLET_PASSWORD}"`;
  writeFileSync(accounts, `accounts-generator { chain-id = "T", ${wallet} }`);
  chownSync(accounts, UID, GID);
  const commands = [
    ['finality', 'init', config],
    ['chain', 'rollback', config, '1'],
    ['signer', 'init', config, '--new'],
    ['keystore', 'generate', accounts, '--yes'],
  ];
  for (const command of commands) {
    const made = await run(command);
    t.equal(made.code, 0, made.stderr);
  }
  const paths = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  const needed = ['finality-note', 'data/pool.journal', 'data/chain/lock.mdb', 'signer/blocks'];
  for (const name of [...needed, 'wallet/keystore.dat']) t.ok(paths.includes(name), name);
  t.strictSame(
    paths.filter((name) => lstatSync(join(dir, name)).uid !== UID),
    [],
  );
  const hash = await run(['chain', 'hash', config], { uid: UID });
  t.equal(hash.code, 0, hash.stderr);
});

t.test('who may not read the files is told to make them readable', { skip }, async (t) => {
  const { config, dir } = await networkFolder(t);
  const made = await run(['finality', 'init', config]);
  t.equal(made.code, 0, made.stderr);
  for (const name of ['.', ...readdirSync(dir), 'data/chain']) {
    chownSync(join(dir, name), UID, GID);
  }
  const refused = async (...names: string[]) => {
    for (const name of names) {
      chownSync(join(dir, name), 0, 0);
      chmodSync(join(dir, name), 0o600);
    }
    const { code, stderr } = await run(['start', config], { uid: UID });
    for (const name of names) chownSync(join(dir, name), UID, GID);
    t.equal(code, 1, stderr);
    t.match(stderr, /permission denied; make it readable and writable for this user/);
    t.notMatch(stderr, /restore|another folder|move it away/);
  };
  await refused('data/chain/data.mdb');
  await refused('data/chain/lock.mdb');
  await refused('keystore.dat');
});

interface Block {
  readonly signature: string;
}
