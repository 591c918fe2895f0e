// `platform-node doctor` beside a node whose keys a real signer has.
import { renameSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { sharedEngine } from '../containers/engine.ts';
import { leftOut } from '../left-out.ts';
import { networkFolder } from '../system/e2e/network-folder.ts';
import { startCommand } from '../system/e2e/process.ts';
import { jsonLines, run } from './run.ts';

const EMPTY = { PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true' };

t.setTimeout(120_000);

t.test('the signer is asked, and no keystore is looked for', async (t) => {
  const { config, dir } = await networkFolder(t);
  const socket = join(dir, 'signer.sock');
  const set = (...more: readonly string[]): string[] =>
    [`signer.socket=${socket}`, 'ntp.servers=[]', ...more].flatMap((one) => ['--set', one]);
  const examined = async (...more: readonly string[]) => {
    const { code, stdout, stderr } = await run(['doctor', config, ...set(...more)]);
    const found = jsonLines(stdout);
    t.notOk(
      found.some(({ check }) => check === 'keystore'),
      'its keystore has moved',
    );
    return { code, stderr, signer: found.filter(({ check }) => check === 'signer') };
  };
  // As docs/guide/signer.md says: the keystore goes to the folder of the signer.
  const moved = join(dir, 'moved.dat');
  renameSync(join(dir, 'keystore.dat'), moved);
  const ofSigner = [...set(`directory=${dir}/beside`, `wallet.file=${moved}`)];
  const made = await run(['signer', 'init', config, ...ofSigner, '--new']);
  t.equal(made.code, 0, made.stderr);

  const away = await examined('signer.timeout=200ms');
  t.equal(away.code, 1);
  t.match(away.signer, [
    { status: 'error', detail: /^signer \(signer\): .*; start it first: platform-node signer/ },
  ]);

  const command = startCommand(t, ['signer', config, ...ofSigner], { env: EMPTY });
  await command.line('stderr', /signer\.listening/);
  const there = await examined();
  t.equal(there.code, 0, there.stderr);
  t.match(there.signer, [{ status: 'ok', detail: /^\d+ accounts, the owner among them$/ }]);
  command.kill('SIGTERM');
  await command.exit;

  const mute = createServer().listen(socket);
  t.teardown(() => mute.close());
  const silent = await examined('signer.timeout=200ms');
  t.equal(silent.code, 1);
  t.match(silent.signer, [{ status: 'error', detail: /the signer does not answer/ }]);
});

/** What the command says of the container engine at this address. */
async function engineFound(config: string, host: string): Promise<unknown> {
  const set = [
    'ntp.servers=[]',
    'docker-engine.enable=yes',
    'docker-engine.execution-limits.timeout=100ms',
    `docker-engine.docker-host=${host}`,
  ].flatMap((one) => ['--set', one]);
  const { stdout } = await run(['doctor', config, ...set], { env: EMPTY });
  return jsonLines(stdout).filter(({ check }) => check === 'container engine');
}

t.test('an engine that the start would not find is said in the same words', async (t) => {
  const { config, dir } = await networkFolder(t);
  const engine = (host: string) => engineFound(config, host);
  const none = `unix://${dir}/none.sock`;
  t.strictSame(await engine(none), [
    {
      check: 'container engine',
      status: 'error',
      detail:
        `container engine at ${none} (docker-engine.docker-host): it does not exist; ` +
        'start it and let this user reach it, or set docker-engine.enable = no',
    },
  ]);
  t.match(await engine('elsewhere'), [{ status: 'error', detail: /neither unix:/ }]);

  const other = createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-other\r\n'));
  other.listen(join(dir, 'other.sock'));
  t.teardown(() => other.close());
  t.match(await engine(`unix://${dir}/other.sock`), [{ status: 'error', detail: /other.sock/ }]);
});

const real = await sharedEngine();
const skip = typeof real === 'string' ? leftOut(real) : false;

t.test('an engine that answers', { skip }, async (t) => {
  const { config } = await networkFolder(t);
  const { host } = real as Exclude<typeof real, string>;
  t.match(await engineFound(config, host), [{ status: 'ok', detail: host }]);
});
