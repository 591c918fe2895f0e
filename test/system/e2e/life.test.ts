// Row R23 of the reliability goals with real processes: a part that cannot start ends the node with
// one line that names the part, the setting and the remedy. No process is left running, and the
// store is unchanged.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { blackHole } from '../../adapters/time-server.ts';
import { startNode, temporaryFolder } from './dev-node.ts';
import { API_KEY, networkFolder } from './network-folder.ts';
import { eventually, startCommand, startProgram } from './process.ts';

// A dozen starts of real processes.
t.setTimeout(400_000);

const EMPTY = { PLATFORM_NODE_OWNER_PASSWORD_EMPTY: 'true' };
const STACK = /\n\s+at .+:\d+/;

async function takenPort(t: Test): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => server.close());
  return (server.address() as { port: number }).port;
}

/** Lines that are no log, and no warning about the settings of the test. */
const saidIn = (text: string): string[] =>
  text.split('\n').filter((line) => line !== '' && !/^(\{|warning: )/.test(line));

t.test('a part that cannot start', async (t) => {
  const { config } = await networkFolder(t);
  const first = await startNode(t, config, { apiKey: API_KEY });
  await eventually('a block', async () => ((await first.rest.height()) > 1 ? true : undefined));
  const height = await first.rest.height();
  await first.stop();
  const port = await takenPort(t);
  const other = temporaryFolder(t);
  for (const name of ['journal/pool.journal', 'key/node.key']) {
    mkdirSync(join(other, name), { recursive: true });
  }
  writeFileSync(join(other, 'file'), 'no PEM and no key file');
  const file = join(other, 'file');
  const at = (name: string) => `data-directory=${join(other, name)}`;
  const listening = ['network.listen=yes', 'network.bind-address=127.0.0.1'];
  const nowhere = '127.0.0.1:1';
  const cases: readonly (readonly [sets: readonly string[], line: RegExp])[] = [
    [
      [`rest-api.port=${port}`],
      /^REST interface on 127\.0\.0\.1:\d+ \(rest-api\.bind-address, rest-api\.port\): another process listens there; .*choose another/,
    ],
    [
      [...listening, `network.port=${port}`],
      /^network of nodes on 127\.0\.0\.1:\d+ \(network\.bind-address, network\.port\): another process listens there; .*choose another/,
    ],
    [
      ['metrics.enable=yes', `metrics.port=${port}`],
      /^metrics on .* \(metrics\.bind-address, metrics\.port\): another process listens there; /,
    ],
    [[`data-directory=${file}/x`], /^folder .* \(data-directory\): a part of the path is a file; /],
    [[at('journal')], /^journal of the pool .* \(data-directory\): it is a folder; move it away/],
    [[...listening, at('key')], /^transport key .*node\.key \(data-directory\): it is a folder; /],
    [[`wallet.file=${file}`], /^keystore \(wallet\.file, wallet\.password\): .*; restore the file/],
    [
      [`rest-api.tls.cert=${file}`, `rest-api.tls.key=${file}`],
      /^certificate of the REST interface \(rest-api\.tls\.cert\): .* holds no PEM certificate; name/,
    ],
    [
      ['privacy.storage.vendor=postgres', `privacy.storage.url=postgres://${nowhere}/x`],
      /^storage of confidential data \(vendor postgres\) \(privacy\.storage\.url\): .*ECONNREFUSED.*; make it/,
    ],
    [
      [
        'privacy.storage.vendor=s3',
        `privacy.storage.url=http://${nowhere}`,
        ...['bucket', 'access-key-id', 'secret-access-key'].map(
          (key) => `privacy.storage.${key}=x`,
        ),
      ],
      /^storage of confidential data \(vendor s3\) \(privacy\.storage\.url\): .*ECONNREFUSED.*; make it/,
    ],
  ];
  for (const [sets, line] of cases) {
    const words = sets.flatMap((set) => ['--set', set]);
    const run = startCommand(t, ['start', config, ...words], { env: EMPTY, withChildren: true });
    const { code } = await run.exit;
    const said = saidIn(run.stderr());
    t.equal(code, 1, `${sets}: ${said}`);
    t.equal(said.length, 1, `${sets}: one line`);
    t.match(said[0], line);
    t.notMatch(run.stderr(), STACK);
    t.equal(run.stdout(), '');
  }
  const again = await startNode(t, config, { apiKey: API_KEY });
  t.ok((await again.rest.height()) >= height, 'the store is as it was');
  t.equal((await again.stop()).code, 0);
});

t.test('a service that throws while it runs', async (t) => {
  const { config } = await networkFolder(t);
  const program = new URL('failing-node.ts', import.meta.url).pathname;
  const args = ['--disable-warning=ExperimentalWarning', program, config];
  const failing = startProgram(t, process.execPath, args, { env: EMPTY });
  t.same(await failing.exit, { code: 70, signal: null });
  const said = saidIn(failing.stderr());
  t.strictSame(said, [
    'the node itself has failed: a service that throws; please report what its log says',
  ]);
  const events = failing
    .stderr()
    .split('\n')
    .flatMap((line) => /"event":"([^"]+)"/.exec(line)?.[1] ?? []);
  t.ok(events.includes('node.failed'), 'the cause is in the log');
  // A line that is being written when the process ends may stand behind the last one.
  t.ok(events.slice(-2).includes('node.stopped'), 'it stopped in order');
  const again = await startNode(t, config, { apiKey: API_KEY });
  t.ok((await again.rest.height()) > 1, 'the block is there');
  t.equal((await again.stop()).code, 0);
});

t.test('a signal during the start ends it in order', async (t) => {
  const { config } = await networkFolder(t);
  // A time server that never answers: the start waits for it.
  const { place } = await blackHole(t);
  const sets = ['--set', `ntp.servers=["${place}"]`];
  const starting = startCommand(t, ['start', config, ...sets], { env: EMPTY });
  await starting.line('stderr', /node\.settings/);
  starting.kill('SIGTERM');
  t.same(await starting.exit, { code: 0, signal: null });
  t.strictSame(saidIn(starting.stderr()), []);
});
