// What an operator sees of a running daemon: its log, its metrics, its health.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type JsonObject, parse } from '../../../src/base/json/json.ts';
import { metricTable } from '../../../src/node/metrics/observability.ts';
import { run } from '../../cli/run.ts';
import { startDevNode, startNode, temporaryFolder } from './dev-node.ts';
import { API_KEY, networkFolder, OWNER } from './network-folder.ts';
import { eventually, startCommand } from './process.ts';

const lines = (log: string): JsonObject[] =>
  log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => parse(line) as JsonObject);

t.test('metrics of a node at work', async (t) => {
  const { config } = await networkFolder(t);
  const set = ['metrics.enable=yes', 'metrics.port=0'];
  const node = await startNode(t, config, { apiKey: API_KEY, set });
  const started = lines(node.log()).find(({ event }) => event === 'node.started');
  t.match(started, {
    version: String,
    chainId: 'T',
    genesisId: /^\w{86,88}$/,
    owner: OWNER.address,
    consensus: 'poa',
    mining: true,
    height: Number,
    data: /data$/,
    metrics: /^http:\/\/127\.0\.0\.1:\d+\/metrics$/,
  });
  const url = String(started?.['metrics']);
  const read = async (): Promise<string> => (await fetch(url)).text();

  const { rest } = node;
  const transfer = { type: 4, version: 2, sender: OWNER.address, recipient: OWNER.address };
  const signed = await rest.sign({ ...transfer, amount: 1, fee: 100_000_000 });
  await rest.broadcast(signed);
  await rest.mined(signed['id']);
  t.equal((await rest.post('/transactions/broadcast', { ...signed, fee: 1 })).status, 400);
  t.equal((await rest.get('/blocks/nonsense')).status, 404);

  const text = await read();
  const value = (name: string, labels = ''): number =>
    Number(new RegExp(`^${name}${labels.replace(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(text)?.[1]);
  // Nothing to count without peers, votes, store of confidential data, engine, signer, listeners and threads.
  const { peerMessages, peerBytes, offences, privateRefused, privateQueue } = metricTable;
  const { contractRuns, contractsRunning, engineWorks, threadDelay, eventReadersEnded } =
    metricTable;
  const { certificateEnd, privateBytes, signerUp } = metricTable;
  const idle = [
    peerMessages,
    peerBytes,
    offences,
    privateRefused,
    privateQueue,
    contractRuns,
    contractsRunning,
    engineWorks,
    threadDelay,
    certificateEnd,
    privateBytes,
    signerUp,
    eventReadersEnded,
  ];
  const votes = Object.values(metricTable).filter(({ name }) => name.startsWith('node_finality_'));
  const silent = new Set<string>([...idle, ...votes].map(({ name }) => name));
  for (const { name, kind } of Object.values(metricTable)) {
    t.match(text, new RegExp(`^# TYPE ${name} ${kind}$`, 'm'));
    if (silent.has(name)) continue;
    const sample = kind === 'histogram' ? `${name}_count` : name;
    t.match(text, new RegExp(`^${sample}(\\{.*\\})? \\d`, 'm'), `${name} has a value`);
  }
  t.ok(value('node_chain_height') >= 2);
  t.equal(value('node_transactions_accepted_total'), 1);
  t.equal(value('node_block_transactions_total'), 1);
  t.ok(value('node_blocks_total', '{origin="own"}') >= 1);
  t.ok(value('node_block_commit_seconds_sum') > 0);
  t.equal(value('node_healthy'), 1);
  t.equal(value('node_shut_out'), 0);
  t.ok(value('node_store_bytes') > 0);
  t.ok(value('node_process_resident_bytes') > 10_000_000);
  t.match(
    text,
    'node_rest_requests_total{method="POST",route="/transactions/sign",status="200"} 1',
  );
  t.notMatch(text, /route="[^"]*\d{3}/, 'labels are patterns, not paths');
  t.equal((await fetch(new URL('/', url))).status, 404);
  t.equal((await rest.get('/metrics')).status, 404, 'the REST listener does not have them');
  t.equal((await node.stop()).code, 0);
  await t.rejects(read(), 'the listener ends with the node');
});

t.test('health', async (t) => {
  const { rest } = await startDevNode(t);
  const live = await rest.get('/health/live');
  t.equal(live.status, 200);
  t.strictSame(live.body, { status: 'live', reasons: [] });
  await eventually('a block', async () => ((await rest.height()) > 1 ? true : undefined));
  t.match(await rest.get('/health/ready'), { status: 200, body: { status: 'ready', peers: 0 } });
  const alone = await rest.get('/health/ready?maxBlocksBehind=20&minPeers=1');
  t.match(alone, {
    status: 503,
    body: { status: 'not ready', reasons: [{ code: 'peers', message: '0 of at least 1' }] },
  });
  t.match(await rest.get('/health/ready?minPeers=x'), { status: 400, body: { error: 199 } });
});

t.test('the level of the log', async (t) => {
  const dir = temporaryFolder(t);
  const args = ['dev', '--no-data', '--dir', dir, '--keep', '--rest-port', '0', '--json'];
  const quiet = startCommand(t, args, { env: { LOG_LEVEL: 'warn' } });
  await quiet.line('stdout', /"ready":true/);
  t.notMatch(quiet.stderr(), /"level":"info"/, 'LOG_LEVEL wins over the configuration');
  quiet.kill('SIGUSR1');
  await quiet.line('stderr', /"level":"info".*"event":"log.level","to":"debug"/);
  await quiet.line('stderr', /"event":"block.forged"/);
  quiet.kill('SIGUSR1');
  await quiet.line('stderr', /"event":"log.level","to":"info"/);
  quiet.kill('SIGTERM');
  t.equal((await quiet.exit).code, 0);
});

t.test('no secret reaches the log', async (t) => {
  const node = await startDevNode(t, { env: { LOG_LEVEL: 'debug' } });
  const { rest, accounts, owner } = node;
  const password = 'hunter2 of the account';
  const strangerKey = 'the key of a stranger';
  const transfer = { type: 4, version: 2, sender: owner, recipient: owner, amount: 1, password };
  const path = `/addresses/sign/${owner}`;
  await rest.post('/transactions/sign', { ...transfer, fee: 1_000_000 });
  await rest.post('/transactions/signAndBroadcast', { ...transfer, fee: 1_000_000 });
  await rest.post('/transactions/sign', { ...transfer, fee: `${password} as a fee` });
  await rest.post('/transactions/sign', { ...transfer, type: password });
  await rest.post(path, { message: 'a message', password });
  await rest.post(path, { message: 'a message', password: { of: password } });
  await rest.post(path, undefined, { 'X-API-Key': strangerKey });
  await rest.get(`/utils/time?api_key=${encodeURIComponent(strangerKey)}`);
  await rest.post('/utils/hash/secure', accounts[0]?.seed);
  await rest.post('/addresses/verify/nobody', { message: accounts[0]?.seed });
  await eventually('a block', async () => ((await rest.height()) > 2 ? true : undefined));
  t.equal((await node.stop()).code, 0);
  const log = node.log();
  t.match(log, /"event":"node.stopped"/);
  const walletPassword = /password = "(\w+)"/.exec(
    readFileSync(join(node.dir, 'node.conf'), 'utf8'),
  )?.[1];
  t.ok(walletPassword);
  const secrets = [
    'hunter2',
    strangerKey,
    encodeURIComponent(strangerKey),
    node.apiKey,
    node.privacyApiKey,
    String(walletPassword),
    ...accounts.map(({ seed }) => seed),
  ];
  for (const secret of secrets) t.notOk(log.includes(secret));
});

t.test('the log in a file, as text', async (t) => {
  const { dir, config } = await networkFolder(t);
  const path = join(dir, 'node.log');
  const set = [
    `log-file.path=${path}`,
    'log-file.max-size=64KiB',
    'log-file.files=3',
    'log-format=text',
  ];
  const env = { LOG_LEVEL: 'debug' };
  const { stderr, code } = await run(
    [
      'start',
      config,
      ...set.flatMap((one) => ['--set', one]),
      '--set',
      'owner-address=3MuZtp1u3EXWo228F211XHSu4Jv8Nr9keKz',
    ],
    { env },
  );
  t.not(code, 0, 'the owner is not in the keystore');
  t.match(stderr, /does not exist in the keystore/);
  t.notMatch(stderr, 'node.settings', 'its lines are in the file');
  const text = readFileSync(path, 'utf8');
  t.match(text, /^\d\d:\d\d:\d\d\.\d{3} INFO +node\.settings /, 'text, although it is no terminal');
  t.match(text, /DEBUG node\.settings-in-force/);
  t.notMatch(text, '\x1b[', 'no colours');
  const refused = await run(['start', config, '--set', `log-file.path=${dir}/no/log`]);
  t.match([refused.code, refused.stderr], [1, /log-file\.path.*it does not exist/]);
});
