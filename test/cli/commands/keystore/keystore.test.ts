// The account generator and related commands, on real files with the real key derivation.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { ownerPasswordFrom } from '../../../../src/cli/commands/keystore/passwords.ts';
import { jsonLines, run } from '../../run.ts';

const PHRASE = 'ledger vector seed alpha bravo charlie delta echo foxtrot golf hotel india juliet';
const PRIVATE = 'GfrH6GCPfEaU6bGiUkaHbnGqekdzS9mYtFASeXoPpWqH';
const PUBLIC = '76psnbrVY3vQ6qMyKco4EWaaeZ8R21jtHC6miTE2BD9G';
const ADDRESS = '3MuZtp1u3EXWo228F211XHSu4Jv8Nr9keKz';

const section = (dir: string, more = '') => `accounts-generator {
  platform-crypto = yes, chain-id = T, amount = 2
  wallet = "${dir}/keys/keystore.dat", wallet-password = "secret" ${more}
}`;

t.test('generate, list, reload of the node', async (t) => {
  const requests: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    requests.push(request.method, request.url, String(request.headers['x-api-key']));
    response.end('{"message":"Wallet reloaded successfully"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/utils/reload-wallet`;
  const dir = t.testdir({});
  const file = join(dir, 'accounts.conf');
  writeFileSync(
    file,
    section(dir, `, reload-node-wallet { enabled = yes, url = "${url}", api-key = k }`),
  );

  const made = await run(['AccountsGeneratorApp', file], { input: 'pw\npw\n\n\n' });
  t.equal(made.code, 0, made.stderr);
  const address = '3[A-Za-z0-9]{34}';
  t.match(
    made.stdout,
    new RegExp(
      `^1 Address: ${address}; public key: \\w{43,44}\n2 Address: ${address}; public key: \\w{43,44}\n` +
        `Sending reload wallet request to URL : ${url}\nResponse Code : 200\n` +
        '{"message":"Wallet reloaded successfully"}\nGenerator done\n$',
    ),
  );
  t.same(requests, ['POST', '/utils/reload-wallet', 'k']);
  const wallet = join(dir, 'keys/keystore.dat');
  t.equal(statSync(wallet).mode & 0o777, 0o600);

  const list = await run(['keystore', 'list', file]);
  t.same(
    jsonLines(list.stdout).map((account) => account['password']),
    [true, false],
  );
  t.ok(made.stdout.includes(String(jsonLines(list.stdout)[0]?.['publicKey'])));

  const more = await run(
    ['keystore', 'generate', file, '--yes', '--amount', '1', '--password-env', 'PW'],
    {
      env: { PW: 'other' },
    },
  );
  t.equal(more.code, 0);
  t.match(jsonLines(more.stdout), [{ number: 1, address: /^3\w+$/, publicKey: String }]);
  t.equal(jsonLines((await run(['keystore', 'list', file])).stdout).length, 3);
});

t.test('nodes that cannot be told', async (t) => {
  const dir = t.testdir({});
  const file = join(dir, 'accounts.conf');
  const told = async (url: string) => {
    writeFileSync(file, section(dir, `, reload-node-wallet { enabled = yes, url = "${url}" }`));
    return run(['AccountsGeneratorApp', file, '--yes', '--amount', '1']);
  };
  const refused = await told('http://127.0.0.1:1/utils/reload-wallet');
  t.equal(refused.code, 1);
  t.match(
    refused.stderr,
    /^Failed to connect to 'http:\/\/127\.0\.0\.1:1\/utils\/reload-wallet', because: /,
  );
  const wrong = await told('nonsense');
  t.equal(wrong.code, 1);
  t.match(
    wrong.stderr,
    /^Looks like URL is wrong in config parameter 'accounts-generator\.reload-node-wallet\.url'/,
  );
});

t.test('no console, no password', async (t) => {
  const dir = t.testdir({});
  const file = join(dir, 'accounts.conf');
  writeFileSync(file, section(dir));
  t.equal((await run(['keystore', 'generate', file])).code, 61, 'passwords of the accounts');
  writeFileSync(file, section(dir).replace('wallet-password = "secret"', ''));
  const wallet = await run(['keystore', 'list', file]);
  t.equal(wallet.code, 61);
  t.match(wallet.stderr, /No wallet password/);
  const differing = await run(['keystore', 'generate', file], { input: 'a\nb\n' });
  t.not(differing.code, 0);
});

t.test('derive, import of phrases, export and import of the compatible file', async (t) => {
  const derived = await run(['keystore', 'derive', '--chain-id', 'T'], {
    input: `${PHRASE}\n\n${PHRASE} \n`,
  });
  t.equal(derived.code, 0);
  const [first, second] = jsonLines(derived.stdout);
  t.same(first, { privateKey: PRIVATE, publicKey: PUBLIC, address: ADDRESS });
  t.not(second?.['address'], ADDRESS, 'a space is part of the phrase');

  const dir = t.testdir({});
  const [one, two] = [join(dir, 'one.conf'), join(dir, 'two.conf')];
  mkdirSync(join(dir, 'b'));
  writeFileSync(one, section(dir));
  writeFileSync(two, section(join(dir, 'b')));
  const env = { FILE_PW: 'file', PW: 'own' };
  const added = await run(['keystore', 'import', one, '-', '--phrases', '--password-env', 'PW'], {
    input: `${PHRASE}\n`,
    env,
  });
  t.equal(added.code, 0, added.stderr);
  t.same(jsonLines(added.stdout), [{ address: ADDRESS, added: true }]);

  const passwords = ['--file-password-env', 'FILE_PW', '--password-env', 'PW'];
  const exported = await run(['keystore', 'export', one, join(dir, 'theirs.dat'), ...passwords], {
    env,
  });
  t.equal(exported.code, 0, exported.stderr);
  t.equal(statSync(join(dir, 'theirs.dat')).mode & 0o777, 0o600);
  const again = await run(['keystore', 'export', one, join(dir, 'theirs.dat'), ...passwords], {
    env,
  });
  t.equal(again.code, 1, 'nothing is overwritten');
  const imported = await run(['keystore', 'import', two, join(dir, 'theirs.dat'), ...passwords], {
    env,
  });
  t.equal(imported.code, 0, imported.stderr);
  t.match(jsonLines((await run(['keystore', 'list', two])).stdout), [
    { address: ADDRESS, password: true },
  ]);
  const wrong = await run(['keystore', 'import', two, join(dir, 'theirs.dat'), ...passwords], {
    env: { ...env, FILE_PW: 'x' },
  });
  t.equal(wrong.code, 1);
  t.equal(wrong.stderr, 'Wrong password\n');
  t.notMatch(readFileSync(join(dir, 'keys/keystore.dat'), 'utf8'), new RegExp(PRIVATE));
});

t.test('password of the owner: decision 46', async (t) => {
  const [PW, EMPTY] = ['PLATFORM_NODE_OWNER_PASSWORD', 'PLATFORM_NODE_OWNER_PASSWORD_EMPTY'];
  t.equal(ownerPasswordFrom({}), undefined, 'ask');
  t.same(ownerPasswordFrom({ [PW]: 'x' }), { password: 'x' });
  t.same(ownerPasswordFrom({ [PW]: 'x', [EMPTY]: 'true' }), { password: undefined });
  t.same(ownerPasswordFrom({ [EMPTY]: 'yes' }), { password: undefined });
  t.same(ownerPasswordFrom({ [PW]: 'x', [EMPTY]: 'false' }), { password: 'x' });
  t.same(ownerPasswordFrom({ WE_NODE_OWNER_PASSWORD: 'x' }), { password: 'x' });
  t.same(ownerPasswordFrom({ WE_NODE_OWNER_PASSWORD_EMPTY: 'true' }), { password: undefined });
  t.throws(() => ownerPasswordFrom({ [EMPTY]: 'false' }), new RegExp(`${EMPTY}.*${PW}`));
  t.throws(() => ownerPasswordFrom({ [EMPTY]: 'perhaps', [PW]: 'x' }), /expected true or false/);
});

t.test(
  'every address that is printed is in the wallet, also of several runs at once',
  async (t) => {
    const dir = t.testdir({});
    const file = join(dir, 'accounts.conf');
    writeFileSync(file, section(dir));
    const generate = () => run(['keystore', 'generate', file, '--yes', '--amount', '1']);
    const runs = await Promise.all([generate(), generate(), generate()]);
    const printed = runs.flatMap(({ code, stdout, stderr }) => {
      t.equal(code, 0, stderr);
      return jsonLines(stdout).map(({ address }) => address);
    });
    const held = jsonLines((await run(['keystore', 'list', file])).stdout);
    t.strictSame(new Set(held.map(({ address }) => address)), new Set(printed));
    t.equal(printed.length, runs.length);
    t.strictSame(readdirSync(join(dir, 'keys')), ['keystore.dat'], 'no lock is left');
  },
);

t.test('another password for the wallet, and for an account', async (t) => {
  const dir = t.testdir({});
  const file = join(dir, 'accounts.conf');
  writeFileSync(file, section(dir));
  await run(['keystore', 'generate', file], { input: 'pw\npw\n\n\n' });
  const list = async () => jsonLines((await run(['keystore', 'list', file])).stdout);
  const [first, second] = await list();
  const text = String(first?.['address']);

  const account = await run(['keystore', 'passwd', file, text], { input: 'pw\nnewpw\nnewpw\n' });
  t.strictSame(jsonLines(account.stdout), [{ address: text, changed: true }], account.stderr);
  const old = await run(['keystore', 'passwd', file, text], { input: 'pw\nx\nx\n' });
  t.match([old.code, old.stdout], [1, ''], 'the old password');
  t.match(old.stderr, /Wrong password/);
  const asked = await run(['keystore', 'passwd', file]);
  t.match(asked, { code: 61, stderr: /: use --new-password-env <variable>, and --password-env / });
  const stranger = await run(['keystore', 'passwd', file, ADDRESS], { input: 'x\nx\n' });
  t.match([stranger.code, stranger.stderr], [1, /is not in '/]);

  const env = { OWN: 'newpw', NEXT: 'second secret' };
  const flags = ['--password-env', 'OWN', '--new-password-env', 'NEXT'];
  const empty = await run(['keystore', 'passwd', file, ...flags], { env: { ...env, NEXT: '' } });
  t.match([empty.code, empty.stderr], [1, /new password of the wallet is empty/]);
  const wallet = await run(['keystore', 'passwd', file, ...flags], { env });
  t.match(jsonLines(wallet.stdout), [{ changed: true }], wallet.stderr);
  t.not((await run(['keystore', 'list', file])).code, 0, 'the old password opens nothing');
  writeFileSync(file, section(dir).replace('"secret"', '"second secret"'));
  t.strictSame(await list(), [first, second]);
  for (const secret of ['second secret', 'pw', 'newpw']) {
    for (const { stdout, stderr } of [account, old, wallet]) {
      t.notOk(`${stdout}${stderr}`.split(/\W+/).includes(secret));
    }
  }
});
