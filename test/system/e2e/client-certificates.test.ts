// A node that asks clients for certificates: commands with one reach it, SIGHUP takes other authorities
// over, and `config check` finds a file that is none.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { native } from '../../../src/adapters/http/listener.ts';
import { Authority, withoutOpenssl } from '../../adapters/http/tls/authority.ts';
import { jsonLines, run } from '../../cli/run.ts';
import { API_KEY, networkFolder } from './network-folder.ts';
import { COMMAND, eventually, startProgram } from './process.ts';

t.setTimeout(600_000);

const noOpenssl = withoutOpenssl();
const own = (name: string): string =>
  join(import.meta.dirname, '../../adapters/http/tls', `test-only-${name}.pem`);

for (const threads of [0, 2]) {
  const noThreads = threads > 0 && native === undefined && 'there are no threads without the addon';
  t.test(`with ${threads} threads`, { skip: noOpenssl || noThreads }, async (t) => {
    const { dir, config } = await networkFolder(t);
    const [ours, other] = ['ours', 'other'].map((name) => new Authority(join(dir, name), name));
    const [good, foreign] = [ours!.sign('good', 5), other!.sign('foreign', 5)];
    const clients = join(dir, 'clients.pem');
    copyFileSync(ours!.cert, clients);
    const tls = `{ cert = "${own('cert')}", key = "${own('key')}", client-ca = "${clients}" }`;
    const text = readFileSync(config, 'utf8');
    writeFileSync(
      config,
      text.replace(/\}\s*$/, `rest-api.tls ${tls}\nrest-api.threads = ${threads}\n}\n`),
    );
    t.match(jsonLines((await run(['config', 'check', config])).stdout)[0], { ok: true });
    const noPassword = { PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true' };
    const node = startProgram(t, COMMAND, ['start', config], { cwd: dir, env: noPassword });
    const [, port] =
      (await node.line('stderr', /node\.started/)).match(/"rest":"127\.0\.0\.1:(\d+)/) ?? [];
    const env = {
      PLATFORM_NODE_URL: `https://127.0.0.1:${port}`,
      PLATFORM_NODE_TLS_CA: own('cert'),
    };
    const status = (more: readonly string[]) => run(['node', 'status', ...more], { env });
    const shows = ({ cert, key }: typeof good) => ['--tls-cert', cert, '--tls-key', key];

    t.match(await status([]), { code: 1, stdout: /No client certificate was shown/ });
    t.match(await status(shows(foreign)), { code: 1, stderr: /No node answers/ });
    t.match(jsonLines((await status(shows(good))).stdout)[0], { blockchainHeight: Number });
    t.match(await status(['--tls-cert', good.cert]), { code: 2, stderr: /needs its key/ });
    const stopped = ['node', 'stop', '--api-key', API_KEY];
    t.match(await run(stopped, { env }), { code: 1, stdout: /No client certificate/ });

    copyFileSync(other!.cert, clients);
    node.kill('SIGHUP');
    await eventually('the other authority', async () =>
      (await status(shows(foreign))).code === 0 ? true : undefined,
    );
    t.equal((await status(shows(good))).code, 1);
    writeFileSync(clients, 'nothing');
    const wrong = await run(['config', 'check', config]);
    t.match(wrong, { code: 1, stderr: /rest-api\.tls\.client-ca.*holds no PEM certificate/ });
    node.kill('SIGHUP');
    await node.line('stderr', /tls\.reload-failed/);
    t.equal((await status(shows(foreign))).code, 0, 'the old ones stay');
    t.equal((await run([...stopped, ...shows(foreign)], { env })).code, 0);
    t.equal((await node.exit).code, 0);
  });
}
