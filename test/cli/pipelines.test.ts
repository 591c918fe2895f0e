// Commands in pipelines: failures at the place of their input, stdin, JSON, and the keys of a node.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { childEnvironment } from '../child-environment.ts';
import { startDevNode, temporaryFolder } from '../system/e2e/dev-node.ts';
import { networkText } from '../system/e2e/network-folder.ts';
import { jsonLines, run } from './run.ts';

const BINARY = join(import.meta.dirname, '../../bin/platform-node');

t.test('with a node that makes no block for a while', async (t) => {
  const node = await startDevNode(t, { round: '3600s' });
  const env = { PLATFORM_NODE_URL: node.rest.url, PLATFORM_NODE_API_KEY: node.apiKey };
  const [owner, other] = [node.accounts[0]!.address, node.accounts[1]!.address];
  const config = readFileSync(join(node.dir, 'node.conf'), 'utf8');

  await t.test('what a signer refused passes through the broadcast unchanged', async (t) => {
    const transfer = { type: 4, version: 2, sender: owner, recipient: other };
    const input = [1, -1, 2].map((amount) => JSON.stringify({ ...transfer, amount })).join('\n');
    const signed = await run(['tx', 'sign', '--ndjson'], { env, input });
    const refused = jsonLines(signed.stdout)[1]!;
    t.match(refused, { error: Number, message: String });
    const sent = await run(['tx', 'broadcast', '--ndjson'], { env, input: signed.stdout });
    t.equal(sent.code, 1);
    const [first, second, third] = jsonLines(sent.stdout);
    t.match([first, third], [{ amount: 1 }, { amount: 2 }]);
    t.strictSame(second, refused);
    const only = await run(['tx', 'broadcast'], { env, input: '{"error":"no connection"}' });
    t.match(only, { code: 1, stdout: '{"error":"no connection"}\n' });
  });

  await t.test('--wait that runs out still prints what was sent', async (t) => {
    const words = ['--sender', owner, '--recipient', other, '--amount', '9', '--wait', '1'];
    const { code, stdout, stderr } = await run(['tx', 'send', 'transfer', ...words], { env });
    t.equal(code, 1);
    const [sent] = jsonLines(stdout);
    t.match(sent, { type: 4, amount: 9, id: String });
    t.match(stderr, `The transaction ${String(sent?.['id'])} is in no block after 1 s`);
  });

  await t.test('the privacy methods have a variable of their own', async (t) => {
    const ask = (own: Record<string, string>) =>
      run(['policy', 'get-info', '11111111111111111111111111111111'], { env: { ...env, ...own } });
    const general = await ask({});
    t.match(general.stderr, /API key/i);
    const own = await ask({ PLATFORM_NODE_PRIVACY_API_KEY: node.privacyApiKey });
    t.equal(own.code, 1);
    t.notMatch(own.stderr, /API key/i);
    const fallback = await ask({ PLATFORM_NODE_API_KEY: node.privacyApiKey });
    t.equal(fallback.stderr, own.stderr, 'one key for both needs one variable');
  });

  await t.test('a configuration may come from stdin', async (t) => {
    const listed = await run(['keystore', 'list', '-'], { input: config });
    t.equal(listed.code, 0, listed.stderr);
    t.equal(jsonLines(listed.stdout).length, node.accounts.length);
    const broken = await run(['config', 'check', '-'], { input: 'node { nonsense = 1 }' });
    t.equal(broken.code, 1);
    t.match(broken.stdout + broken.stderr, /stdin.*nonsense/);
    const exported = join(temporaryFolder(t), 'keys');
    const password = { PW: 'of the file' };
    const flags = ['--file-password-env', 'PW'];
    const made = await run(
      ['keystore', 'export', join(node.dir, 'node.conf'), exported, ...flags],
      {
        env: password,
      },
    );
    t.equal(made.code, 0, made.stderr);
  });

  await t.test('keystore generate', async (t) => {
    const path = join(node.dir, 'node.conf');
    const words = ['keystore', 'generate', path, '--yes', '--amount', '2'];
    const { code, stdout } = await run(words);
    t.equal(code, 0);
    t.match(jsonLines(stdout), [
      { number: 1, address: /^3/, publicKey: String },
      { number: 2, address: /^3/, publicKey: String },
    ]);
    t.equal(jsonLines(stdout).length, 2);
  });
});

t.test('genesis sign', async (t) => {
  const dir = temporaryFolder(t);
  const file = join(dir, 'node.conf');
  writeFileSync(file, networkText(dir));
  const { code, stdout, stderr } = await run(['genesis', 'sign', file]);
  t.equal(code, 0, stderr);
  const [answer] = jsonLines(stdout);
  t.match(answer, { file, old: String, publicKey: String, timestamp: Number });
  t.match(readFileSync(file, 'utf8'), String(answer?.['signature']));
});

t.test('on a console the second question for a password has the text of the first', async (t) => {
  const dir = temporaryFolder(t);
  const file = join(dir, 'generator.conf');
  const section = `chain-id = T, wallet = "${dir}/keystore.dat", wallet-password = "x"`;
  writeFileSync(file, `accounts-generator { ${section} }`);
  const command = `'${BINARY}' keystore generate '${file}'`;
  const child = spawn('script', ['-qec', command, '/dev/null'], { env: childEnvironment() });
  t.teardown(() => child.kill('SIGKILL'));
  let text = '';
  let answered = 0;
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more;
    const asked = text.split(PROMPT).length - 1;
    for (; answered < asked; answered++) child.stdin.write('secret\r');
  });
  const [code] = (await once(child, 'close')) as [number];
  t.equal(code, 0, text);
  t.equal(text.split(PROMPT).length - 1, 2, text);
  t.match(text, '"publicKey"');
});

t.test('Ctrl-C at a question for a password', async (t) => {
  const dir = temporaryFolder(t);
  const file = join(dir, 'generator.conf');
  const section = `chain-id = T, wallet = "${dir}/keystore.dat", wallet-password = "x"`;
  writeFileSync(file, `accounts-generator { ${section} }`);
  const command = `'${BINARY}' keystore generate '${file}'`;
  const child = spawn('script', ['-qec', command, '/dev/null'], { env: childEnvironment() });
  t.teardown(() => child.kill('SIGKILL'));
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    // Without a moment for the console to become silent, the signal would come from there.
    if (more.includes(PROMPT)) setTimeout(() => child.stdin.write('\x03'), 500);
  });
  const [code] = (await once(child, 'close')) as [number];
  t.equal(code, 130);
});

const PROMPT = 'Please enter password for 1 account (empty password means no password): ';
