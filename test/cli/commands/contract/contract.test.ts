// Contract transactions from the command line, on a node without a container engine.
import t from 'tap';
import { startDevNode } from '../../../system/e2e/dev-node.ts';
import { jsonLines, type Run, type RunOptions, run } from '../../run.ts';

type Json = Record<string, unknown>;

const HASH = 'ab'.repeat(32);
const NOWHERE = 'unix:///nowhere/docker.sock';

t.test('transactions that no miner can execute', async (t) => {
  const node = await startDevNode(t, { round: '500ms', env: { DOCKER_HOST: NOWHERE } });
  t.match(node.contracts, { enabled: false, engine: NOWHERE, why: /No container engine answers/ });
  const [owner, other] = [node.accounts[0]!, node.accounts[1]!];
  const ask = (args: readonly string[], input?: string): Promise<Run> => {
    const env = { PLATFORM_NODE_URL: node.rest.url, PLATFORM_NODE_API_KEY: node.apiKey };
    return run(['contract', ...args], { env, ...(input === undefined ? {} : { input }) });
  };
  const printed = ({ code, stdout, stderr }: Run): Json => {
    t.equal(code, 0, stderr);
    return JSON.parse(stdout) as Json;
  };
  const sender = ['--sender', owner.address];
  const image = ['--image', 'points:1', '--image-hash', HASH];

  const made = printed(
    await ask(['create', ...image, ...sender, '--param', 'n:integer:9007199254740993']),
  );
  const params = [{ key: 'n', type: 'integer', value: Number('9007199254740993') }];
  t.match(made, { type: 103, version: 1, contractName: 'points', imageHash: HASH, params });
  const id = String(made['id']);
  const waiting = printed(await ask(['status', id]));
  t.match(waiting, { txId: id, status: 'Waiting' });
  t.strictSame(waiting['records'], []);

  await t.test('the output of a build, and more parameters', async (t) => {
    const built = { image: 'built:1', imageHash: HASH, size: 5, params: [...params] };
    const named = ['create', '-', '--name', 'my name', '--version', '1', ...sender];
    const [tx] = jsonLines(
      (await ask([...named, '--param', 'a:string:x'], JSON.stringify(built))).stdout,
    );
    t.match(tx, { image: 'built:1', contractName: 'my name' });
    t.match(tx!['params'], [{ key: 'a', type: 'string', value: 'x' }, { key: 'n' }]);
  });

  await t.test('waiting in vain', async (t) => {
    const late = await ask(['create', ...image, ...sender, '--wait', '1']);
    t.equal(late.code, 1);
    t.match(late.stderr, /No miner has executed \w+ after 1 s/);
    t.match(JSON.parse(late.stdout), { type: 103 }, 'stdout has what was sent');
  });

  await t.test('refusals of the node', async (t) => {
    const call = await ask(['call', id, ...sender]);
    t.equal(call.code, 1);
    t.match(JSON.parse(call.stdout), { error: 600, message: `Contract '${id}' is not found` });
    for (const args of [
      ['show', id],
      ['state', id],
      ['state', id, '--key', 'a'],
      ['disable', id, ...sender],
    ]) {
      const { code, stderr } = await ask(args);
      t.equal(code, 1);
      t.match(stderr, /is not found/, args.join(' '));
    }
    const unknown = await ask(['status', '8'.repeat(43)]);
    t.equal(unknown.code, 1);
    t.match(JSON.parse(unknown.stdout), { error: 605 });
    const stranger = await ask(['create', ...image, '--sender', other.address]);
    t.equal(stranger.code, 1);
    t.match(stranger.stdout, /contract_developer/);
    t.strictSame(printed(await ask(['show'])), []);
  });

  await t.test('a line for each document', async (t) => {
    const documents = [
      { image: 'a:1', imageHash: HASH },
      { image: 'b:1' },
      { image: 'c:1', imageHash: HASH },
    ];
    const input = documents.map((one) => JSON.stringify(one)).join('\n');
    const { code, stdout, stderr } = await ask(['create', '-', '--ndjson', ...sender], input);
    t.equal(code, 1, stderr);
    t.match(jsonLines(stdout), [{ image: 'a:1' }, { message: /Give --image/ }, { image: 'c:1' }]);
    const wrong = documents.map((one) => JSON.stringify({ ...one, imageHash: 'x' })).join('\n');
    const refused = await ask(['create', '-', '--ndjson', '--concurrency', '3', ...sender], wrong);
    t.equal(refused.code, 1);
    t.equal(jsonLines(refused.stdout).length, 3);
    for (const line of jsonLines(refused.stdout)) t.match(line, { error: Number });
  });
});

t.test('wrong usage', async (t) => {
  const cases: readonly (readonly [args: readonly string[], why: RegExp, options?: RunOptions])[] =
    [
      [['create', '--sender', 'x'], /Give --image and --image-hash/],
      [['create', '--image', 'a', '--image-hash', HASH], /required option '--sender/],
      [['call', 'id', '--sender', 'x', '--param', 'a'], /expected key:type:value/],
      [['call', 'id', '--sender', 'x', '--contract-version', '0'], /from 1 to/],
      [['state', 'id', '--key', 'a', '--limit', '1'], /--key excludes/],
    ];
  for (const [args, why, options] of cases) {
    const { code, stderr } = await run(['contract', ...args], options);
    t.equal(code, 2, args.join(' '));
    t.match(stderr, why);
  }
});
