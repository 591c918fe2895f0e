// Commands that call a running node.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  type Account,
  type DevNode,
  startDevNode,
  temporaryFolder,
} from '../system/e2e/dev-node.ts';
import { jsonLines, lines, type Run, run } from './run.ts';

type Json = Record<string, unknown>;

t.test('a node', async (t) => {
  const node: DevNode = await startDevNode(t, { round: '500ms' });
  const [owner, other] = [node.accounts[0]!, node.accounts[1]!];
  const env = { PLATFORM_NODE_URL: node.rest.url, PLATFORM_NODE_API_KEY: node.apiKey };
  const ask = (...args: string[]): Promise<Run> => run(args, { env });
  const answer = async (...args: string[]): Promise<Json> => {
    const { code, stdout, stderr } = await ask(...args);
    t.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    t.equal(stderr, '');
    return JSON.parse(stdout) as Json;
  };

  await t.test('node', async (t) => {
    const status = await answer('node', 'status');
    t.match(status, { version: /^platform-node v/, blockchainHeight: Number, unconfirmed: 0 });
    t.match(await answer('node', 'config'), { chainId: 'T', consensus: 'POA' });
    t.same(await answer('node', 'peers'), { connected: [], known: [] });
  });

  await t.test('tx send with flags, and what it changed', async (t) => {
    const sent = await answer(
      ...['tx', 'send', 'transfer', '--sender', owner.address, '--recipient', other.address],
      ...['--amount', '100', '--wait', '30'],
    );
    t.match(sent, { type: 4, version: 1, amount: 100, height: Number });
    const words = [`sender=${owner.address}`, 'alias=bobby', 'version=2'];
    t.match(await answer('tx', 'send', '10', ...words, '--wait', '30'), { type: 10, version: 2 });
    const data = await answer(
      ...['tx', 'send', 'data', '--sender', owner.address, '--wait', '30'],
      ...['--data', 'key=text,type=string,value=5', '--data', 'key=n,type=integer,value=5'],
    );
    t.match(data['data'], [{ value: '5' }, { value: 5 }]);
    const issue = ['--name', 'gold', '--description', '', '--quantity', '7', '--decimals', '0'];
    const asset = await answer(
      ...['tx', 'send', 'issue', '--sender', owner.address, ...issue, '--reissuable', 'false'],
      ...['--wait', '30'],
    );
    const id = String(asset['id']);
    t.match(await answer('asset', id), { assetId: id, name: 'gold', quantity: 7 });
    t.same(await answer('asset', id, '--holders'), { [owner.address]: 7 });

    const account = await answer('account', 'bobby');
    t.match(account, {
      address: owner.address,
      regular: Number,
      assets: [{ assetId: id, balance: 7 }],
      roles: [{ role: 'miner' }],
      aliases: ['alias:T:bobby'],
      leases: [],
      dataEntries: 2,
    });
    t.same(await answer('account', 'alias:T:bobby'), account);
    const unnamed = await answer('account', other.address);
    t.equal(unnamed['address'], other.address);
    t.strictSame(unnamed['roles'], []);
  });

  await t.test('permissions', async (t) => {
    t.match(await answer('permissions', owner.address), { roles: [{ role: 'miner' }] });
    const then = await answer('permissions', owner.address, '--at', '2027-01-01T00:00Z');
    t.match(then, { roles: [{ role: 'miner' }], timestamp: 1_798_761_600_000 });
    t.equal((await ask('permissions', owner.address, '--at', 'then')).code, 2);
  });

  await t.test('blocks', async (t) => {
    const first = await answer('block', '1');
    t.match(first, { height: 1, transactions: Array });
    const header = await answer('block', '1', '--headers');
    t.match(header, { height: 1, signature: first['signature'], transactions: undefined });
    const signature = String(first['signature']);
    t.match(await answer('block', signature), { height: 1, transactions: Array });
    t.same(await answer('block', signature, '--headers'), header);
    t.ok(Number((await answer('block'))['height']) > 1);
    t.ok(Number((await answer('block', 'last', '--headers'))['height']) > 1);
  });

  await t.test('what a node refuses is on stdout, with exit code 1', async (t) => {
    const cases: [args: string[], body: Json][] = [
      [['block', '999999'], { status: 'error', details: 'No block for this height' }],
      [['block', 'zzz'], { error: 301 }],
      [['asset', 'x'], { error: 199 }],
      [['account', 'nobody'], { error: 302 }],
      [['permissions', 'x'], { error: 102 }],
      [['node', 'stop', '--api-key', 'wrong'], { error: 2 }],
      [
        ['tx', 'send', 'transfer', ...['--sender', owner.address, '--recipient', other.address]],
        { error: 111 },
      ],
    ];
    cases.at(-1)![0].push('--amount', '0');
    for (const [args, body] of cases) {
      const { code, stdout, stderr } = await ask(...args);
      t.equal(code, 1, args.join(' '));
      t.match(JSON.parse(stdout), body);
      t.equal(lines(stderr).length, 1);
    }
    const keyless = await ask('node', 'stop', '--api-key', '');
    t.match(keyless.stderr, /by --api-key or the variable PLATFORM_NODE_API_KEY$/m);
    t.match(JSON.parse(keyless.stdout), { error: 2, message: /in the header X-API-Key$/ });
    const wrong = await ask('node', 'status', '--url', '127.0.0.1:6862');
    t.equal(wrong.code, 2);
    t.match(wrong.stderr, /is no URL of a node, such as http:/);
  });

  await t.test('a pipeline of many keeps the order, failures in their place', async (t) => {
    const transfer = { type: 4, version: 2, sender: owner.address, recipient: other.address };
    const input = Array.from({ length: 200 }, (_, i) =>
      JSON.stringify({ ...transfer, amount: i === 77 ? -1 : i + 1 }),
    ).join('\n');
    const signed = await run(['tx', 'sign', '--ndjson', '--concurrency', '7'], { env, input });
    t.equal(signed.code, 1);
    const sent = await run(['tx', 'broadcast', '--ndjson'], { env, input: signed.stdout });
    t.equal(sent.code, 1);
    t.same(
      jsonLines(sent.stdout).map(({ amount }, i) => amount ?? `failed ${i}`),
      Array.from({ length: 200 }, (_, i) => (i === 77 ? 'failed 77' : i + 1)),
    );
  });

  await t.test('a seed phrase signs without a node', async (t) => {
    const seedFile = join(temporaryFolder(t), 'seed');
    writeFileSync(seedFile, `${other.seed}\n`);
    const flags = ['--seed-file', seedFile, '--chain-id', 'T', '--ndjson'];
    const transfer = { type: 4, version: 2, recipient: owner.address, amount: 5, fee: 1_000_000 };
    const input = [
      transfer,
      { ...transfer, sender: owner.address },
      { ...transfer, fee: undefined },
    ].map((json) => JSON.stringify(json));
    const nowhere = { PLATFORM_NODE_URL: 'http://127.0.0.1:1' };
    const signed = await run(['tx', 'sign', ...flags], { env: nowhere, input: input.join('\n') });
    t.equal(signed.code, 1);
    const [good, ...bad] = jsonLines(signed.stdout);
    t.match(good, { sender: other.address, proofs: [String] });
    t.match(bad, [{ error: 115 }, { error: 199, message: /'fee' is missing/ }]);
    const sent = await run(['tx', 'broadcast'], { env, input: JSON.stringify(good) });
    t.equal(sent.code, 0, sent.stdout);
    t.equal((await run(['tx', 'sign', '--seed-file', seedFile])).code, 2);
    t.equal((await run(['tx', 'sign', '--seed-file', '-', '-c', 'T'])).code, 2);
  });

  await t.test('crypto: what a node encrypts it decrypts, and so does a seed phrase', async (t) => {
    const [, one, two] = node.accounts as [unknown, Account, Account];
    const info = await fetch(`${node.rest.url}/addresses/info/${two.address}`);
    const { publicKey } = (await info.json()) as { publicKey: string };
    const seedFile = join(temporaryFolder(t), 'seed');
    writeFileSync(seedFile, two.seed);
    const encrypt = ['crypto', 'encrypt', '--to', publicKey, '--sender', one.address];
    const common = await run(encrypt, { env, input: 'a text' });
    t.match(jsonLines(common.stdout), [{ publicKey }]);
    const separate = await run([...encrypt, '--separate'], { env, input: 'a text' });
    t.match(jsonLines(separate.stdout), [{ publicKey }]);
    const input = common.stdout + separate.stdout;
    for (const key of [
      ['--recipient', two.address],
      ['--seed-file', seedFile],
    ]) {
      const opened = await run(['crypto', 'decrypt', ...key], { env, input });
      const text = { decryptedText: 'a text' };
      t.strictSame(jsonLines(opened.stdout), [text, text], opened.stderr);
    }
    // The sender could open it, as the secret is that of the two; a third account cannot.
    const other = await run(['crypto', 'decrypt', '--recipient', owner.address], { env, input });
    t.equal(other.code, 1);
    const refused = { error: 199, message: /^Decryption failed/ };
    t.match(jsonLines(other.stdout), [refused, refused]);
  });

  await t.test('wrong usage of tx send', async (t) => {
    const cases: [string[], RegExp][] = [
      [['transfre'], /unknown command 'transfre'[\s\S]*Did you mean transfer\?/],
      [['transfer', '--amount', 'x'], /expected an integer/],
      [['transfer', '--amount', '5'], /transfer needs --sender, --recipient/],
      [['transfer', 'amount'], /'amount' must be written name=value/],
      [['permit', '--role', 'king'], /expected one of miner, /],
    ];
    for (const [args, message] of cases) {
      const { code, stdout, stderr } = await ask('tx', 'send', ...args);
      t.equal(code, 2, args.join(' '));
      t.match(stderr, message);
      t.equal(stdout, '');
    }
    const { stdout } = await ask('tx', 'send', 'transfer', '--help');
    t.match(stdout, /--amount <integer> +\(required\)/);
    t.match(stdout, /--atomic-badge <object> +trustedSender=…/);
  });

  await t.test('node stop', async (t) => {
    t.same(await answer('node', 'stop'), { stopped: true });
    const { code, stderr } = await ask('node', 'status');
    t.equal(code, 1);
    t.match(stderr, /^No node answers at /);
  });
});
