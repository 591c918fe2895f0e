// config check|show|explain, api-key hash (scenario 110) and the texts of a failed start.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { childEnvironment } from '../../child-environment.ts';
import { leftOut } from '../../left-out.ts';
import { jsonLines, run } from '../run.ts';

const OWNER = '3MuZtp1u3EXWo228F211XHSu4Jv8Nr9keKz';
const LEAST = `owner-address = ${OWNER}\naddress-scheme-character = T\n`;

t.test('check reports every error, on stderr for people and on stdout for programs', async (t) => {
  const dir = t.testdir({ 'node.conf': 'node {\n  rest-api.port = 1e9\n  miner.enable = 7\n}\n' });
  const file = join(dir, 'node.conf');
  const { code, stdout, stderr } = await run(['config', 'check', file]);
  t.equal(code, 1);
  for (const pattern of [
    `${file}:2: rest-api.port = 1000000000: expected an integer from 0 to 65535`,
    `${file}:3: miner.enable = 7: expected yes or no`,
    `${file}: owner-address: is missing`,
  ]) {
    t.ok(stderr.includes(pattern), pattern);
  }
  const [answer] = jsonLines(stdout);
  t.match(answer, { ok: false, errors: Array(4).fill(String) });
});

t.test('check, show and explain of a sound file', async (t) => {
  const dir = t.testdir({
    'node.conf': `${LEAST}wallet.password = "hunter2"\ngenesis {
      initial-balance = 5, transactions = [ { recipient = ${OWNER}, amount = 5 } ]
      network-participants = [ { public-key = 76psnbrVY3vQ6qMyKco4EWaaeZ8R21jtHC6miTE2BD9G
                                 roles = [miner, permissioner, connection_manager] } ] }\n`,
  });
  const file = join(dir, 'node.conf');
  const check = await run(['config', 'check', file]);
  t.equal(check.code, 0, check.stderr);
  t.match(check.stderr, /the genesis block is not signed yet/);
  const show = await run(['config', 'show', file, '--set', 'network.port=7'], {
    env: { NODE_NETWORK_MODE: 'watcher' },
  });
  const [shown] = jsonLines(show.stdout);
  t.equal(shown?.['network.port'], 7);
  t.equal(shown?.['network.mode'], 'watcher');
  t.equal(shown?.['wallet.password'], '***');
  t.notMatch(show.stdout + show.stderr, /hunter2/);
  const explain = await run(['config', 'explain', 'network.port', '--config', file]);
  t.match(jsonLines(explain.stdout)[0], { default: '6864', now: 6864, from: 'default' });
  t.same(await run(['config', 'explain', 'network.port', file]), explain, 'as every other command');
  const variable = await run(['config', 'explain', 'NODE_NETWORK_PORT']);
  t.match(jsonLines(variable.stdout)[0], { key: 'network.port' });
  const unknown = await run(['config', 'explain', 'network.prot']);
  t.equal(unknown.code, 1);
  t.match(unknown.stderr, /did you mean 'network\.port'\?/);
  const schema = JSON.parse((await run(['config', 'schema'])).stdout);
  t.equal(schema.properties.network.properties.port.default, 6864);
});

const listIn = (output: string, name: string): string[] => jsonLines(output)[0]?.[name] as string[];

t.test('check --strict takes unknown keys for errors', async (t) => {
  const participants =
    'network-participants = [ { public-key = 76psnbrVY3vQ6qMyKco4EWaaeZ8R21jtHC6miTE2BD9G, roles = [miner, permissioner, connection_manager] } ]';
  const dir = t.testdir({
    'more.conf': 'node.network.port = 7',
    'node.conf': `include "more"
      include "mroe.conf"
      ${LEAST}genesis {
      initial-balance = 5, transactions = [ { recipient = ${OWNER}, amount = 5 } ]
      ${participants} }
      network.prot = 1
      accounts-generator { amuont = 2 }\n`,
    'accounts.conf': 'accounts-generator { chain-id = "T", walet = "x" }\n',
    'clean.conf': 'accounts-generator { chain-id = "T", wallet = "x" }\n',
  });
  const file = join(dir, 'node.conf');
  const unknown = [
    `${file}: include of '${join(dir, 'mroe.conf')}', which does not exist, is ignored: correct it, or leave it out`,
    `${file}:8: unknown setting 'network.prot', did you mean 'network.port'?`,
    `${file}:9: unknown setting 'accounts-generator.amuont', did you mean 'accounts-generator.amount'?`,
    "environment: unknown variable 'NODE_NETWORK_PROT', did you mean 'NODE_NETWORK_PORT'?",
  ];
  const env = { NODE_NETWORK_PROT: '1' };
  const lenient = await run(['config', 'check', file], { env });
  t.equal(lenient.code, 0, lenient.stderr);
  t.match(jsonLines(lenient.stdout)[0], { ok: true });
  t.strictSame(listIn(lenient.stdout, 'errors'), []);
  const warnings = listIn(lenient.stdout, 'warnings');
  for (const one of unknown) t.ok(warnings.includes(one), one);
  const strict = await run(['config', 'check', '--strict', file], { env });
  t.equal(strict.code, 1);
  t.match(jsonLines(strict.stdout)[0], {
    ok: false,
    warnings: [/no account gets/, /bind-address is not set/, /not signed yet/],
  });
  t.strictSame(listIn(strict.stdout, 'errors').sort(), unknown);
  for (const one of unknown) t.ok(strict.stderr.includes(one), one);
  const both = await run(['config', 'check', '--strict', file, '--set', 'network.port=x'], { env });
  t.equal(listIn(both.stdout, 'errors').length, unknown.length + 1);

  const tools = join(dir, 'accounts.conf');
  const said = `${tools}:1: unknown setting 'accounts-generator.walet', did you mean 'accounts-generator.wallet'?`;
  const checked = (await run(['config', 'check', tools])).stdout;
  t.match(jsonLines(checked), [{ ok: true, warnings: [said] }]);
  t.strictSame(listIn(checked, 'errors'), []);
  const wrong = await run(['config', 'check', '--strict', tools]);
  t.equal(wrong.code, 1);
  t.match(jsonLines(wrong.stdout), [{ ok: false, errors: [said] }]);
  t.strictSame(listIn(wrong.stdout, 'warnings'), []);
  t.equal((await run(['config', 'check', '--strict', join(dir, 'clean.conf')])).code, 0);
  const generated = await run(['keystore', 'list', tools, '--set', 'wallet.password=x']);
  t.match(generated.stderr, "unknown setting 'accounts-generator.walet'");
});

t.test('a wrong value of an included file is said to be there', async (t) => {
  const dir = t.testdir({
    'more.conf': '# more\nnode {\n  network.port = x\n  network.prot = 1\n  miner.enable = 7\n}\n',
    'node.conf': `include "more.conf"\nnode {\n  miner.enable = 8\n ${LEAST} }\n`,
  });
  const { stdout } = await run(['config', 'check', join(dir, 'node.conf')]);
  const more = join(dir, 'more.conf');
  t.match(listIn(stdout, 'errors')[0], `${more}:3: network.port = "x": expected an integer`);
  t.match(listIn(stdout, 'errors')[1], `${join(dir, 'node.conf')}:3: miner.enable = 8: `);
  const unknown = `${more}:4: unknown setting 'network.prot', did you mean 'network.port'?`;
  t.ok(listIn(stdout, 'warnings').includes(unknown));
});

const noTerminal =
  spawnSync('script', ['--version']).error === undefined ? false : leftOut('script');

t.test('config check on a terminal says everything once', { skip: noTerminal }, async (t) => {
  const dir = t.testdir({ 'node.conf': `${LEAST}network.prot = 1\nnetwork.port = x\n` });
  const file = join(dir, 'node.conf');
  const binary = join(import.meta.dirname, '../../../bin/platform-node');
  const shown = (more: string) =>
    spawnSync('script', ['-qec', `'${binary}' config check '${file}' ${more}`, '/dev/null'], {
      env: childEnvironment(),
      encoding: 'utf8',
    }).stdout;
  const text = shown('');
  t.equal(text.split("'network.prot'").length, 2, text);
  t.equal(text.split('network.port = ').length, 2, text);
  t.match(text, /node\.conf: 1 error, 1 warning\r\n$/);
  t.notMatch(text, '"errors"');
  t.match(JSON.parse(shown('--json')), { ok: false, errors: [/network\.port = "x"/] });
});

t.test('a start that cannot begin', async (t) => {
  const dir = t.testdir({
    'no-node.conf': 'akka { x = 1 }',
    'broken.conf': 'node { a = ',
    'poa.conf': `${LEAST}blockchain.consensus.type = poa\n`,
    folder: {},
  });
  const cases: [string, RegExp][] = [
    ['none.conf', /^Provided configuration file doesn't exist: .*none\.conf/],
    ['folder', /^Provided configuration file appeared to be a directory: .*folder/],
    ['no-node.conf', /^Provided configuration file doesn't contain 'node' path/],
    ['broken.conf', /^Failed to parse config:/],
    ['poa.conf', /ntp\.fatal-timeout: is missing, and PoA requires a working clock/],
  ];
  for (const [name, text] of cases) {
    const { code, stderr } = await run(['start', join(dir, name)]);
    t.equal(code, 1, name);
    t.match(stderr, text);
    t.notMatch(stderr, /\n +at /, 'no stack trace');
  }
  for (const name of ['none.conf', 'folder', 'broken.conf']) {
    const check = await run(['config', 'check', join(dir, name)]);
    t.equal(check.code, 1, name);
    const [answer] = jsonLines(check.stdout);
    t.match(answer, { ok: false, errors: [String] }, 'the check answers all the same');
    t.equal(check.stderr, `${listIn(check.stdout, 'errors')[0]}\n`);
  }
});

t.test('a mistyped include is named wherever it leaves settings out', async (t) => {
  const dir = t.testdir({
    'node.conf': 'include "genesi.conf"\nnode.rest-api.prot = 1\n',
    'only.conf': 'include "genesi.conf"\n',
  });
  const gone = `include of '${join(dir, 'genesi.conf')}', which does not exist, is ignored`;
  const start = await run(['start', join(dir, 'node.conf')]);
  t.equal(start.code, 1);
  t.ok(start.stderr.includes(gone), start.stderr);
  t.match(start.stderr, /did you mean 'rest-api\.port'\?[\s\S]*owner-address: is missing/);
  const check = await run(['config', 'check', join(dir, 'only.conf')]);
  t.ok(check.stderr.includes(gone), check.stderr);
  t.match(listIn(check.stdout, 'warnings'), [/which does not exist/]);
});

const notRoot = process.getuid?.() === 0 ? false : leftOut('root');

t.test('a file of another user', { skip: notRoot }, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'config-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  chmodSync(dir, 0o755);
  const file = join(dir, 'node.conf');
  writeFileSync(file, LEAST, { mode: 0o600 });
  const { code, stderr } = await run(['start', file], { uid: 65534 });
  t.equal(code, 1);
  t.match(stderr, /^Provided configuration file cannot be read by this user; make it readable/);
});

t.test('the hash of an API key', async (t) => {
  const KEY = 'ridethewaves!';
  // A vector from outside, the same as POST /utils/hash/secure of this text gives.
  const HASH = 'H6nsiifwYKYEx6YzYD7woP1XCn72RVvx6tC1zjjLXqsu';
  const text = `Api key: ${KEY}\nApi key hash: ${HASH}\n`;
  const dir = t.testdir({});
  const file = join(dir, 'key.conf');
  writeFileSync(
    file,
    `apikeyhash-generator { platform-crypto = yes, api-key = "${KEY}", file = "${dir}/out" }`,
  );
  for (const args of [
    ['ApiKeyHash', file],
    ['generator', 'ApiKeyHash', file],
  ]) {
    const { code, stdout, stderr } = await run(args);
    t.equal(code, 0);
    t.equal(stdout, text);
    t.match(stderr, /fewer than 16 can be found/);
  }
  t.equal(readFileSync(join(dir, 'out'), 'utf8'), text);
  for (const [args, input] of [
    [['-'], KEY],
    [[KEY], ''],
    [[file], ''],
  ] as const) {
    const short = await run(['api-key', 'hash', ...args], { input });
    t.equal(short.code, 1);
    t.equal(short.stdout, '');
    t.match(short.stderr, /has 13 characters/);
    t.notOk(short.stderr.includes(KEY));
  }
  const made = await run(['api-key', 'generate']);
  const [{ apiKey, apiKeyHash } = {}] = jsonLines(made.stdout);
  const out = join(dir, 'hash');
  const hashed = await run(['api-key', 'hash', '-', '--out', out], { input: `${apiKey}\n` });
  t.same(jsonLines(hashed.stdout), [{ apiKeyHash }], 'the hash alone');
  t.equal(readFileSync(out, 'utf8'), `${apiKeyHash}\n`);
  t.not(jsonLines((await run(['api-key', 'generate'])).stdout)[0]?.['apiKey'], apiKey);
  t.equal((await run(['api-key', 'hash'])).code, 2, 'no console to ask');
  for (const typo of [join(dir, 'no-such-api-key-file'), 'no-such-api-key-file.conf']) {
    for (const args of [
      ['api-key', 'hash', typo],
      ['ApiKeyHash', typo],
    ]) {
      const refused = await run(args, { cwd: dir });
      t.match(refused, { code: 1, stdout: '', stderr: /does not exist: correct the path/ });
    }
  }
  writeFileSync(file, 'apikeyhash-generator { }');
  t.match((await run(['ApiKeyHash', file])).stderr, /apikeyhash-generator\.api-key is missing/);
});
