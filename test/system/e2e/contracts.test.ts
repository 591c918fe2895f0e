/**
 * Contracts on a network of four processes with a real container engine: two of the nodes execute, all
 * of them store and serve. The commands are those of an author of contracts.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { JsonObject } from '../../../src/base/json/json.ts';
import { jsonLines, type Run, run } from '../../cli/run.ts';
import { containersWith } from '../../containers/api.ts';
import { sharedEngine } from '../../containers/engine.ts';
import { leftOut } from '../../left-out.ts';
import { startDevNode, temporaryFolder } from './dev-node.ts';
import { eventually } from './process.ts';
import { type NetworkNode, processNetwork } from './process-network.ts';
import type { Rest } from './rest.ts';

t.setTimeout(300_000);

const shared = await sharedEngine();
const skip = typeof shared === 'string' && leftOut(shared);
const engine = typeof shared === 'string' ? { socketPath: '', host: '' } : shared;
const EXECUTING = 2;
const WAIT = ['--wait', '60'];
const NODE_LABEL = 'platform-node.node';

interface Image {
  readonly image: string;
  readonly imageHash: string;
}

t.test('from the image to the end of the network', { skip }, async (t) => {
  const network = await processNetwork(t, {
    nodes: 4,
    roundMs: 3000,
    set: (index) =>
      index < EXECUTING
        ? [
            'docker-engine.enable=yes',
            `docker-engine.docker-host=${engine.host}`,
            'docker-engine.execution-limits.timeout=2500ms',
            'docker-engine.pull=never',
          ]
        : [],
  });
  const nodes = network.nodes as [NetworkNode, NetworkNode, NetworkNode, NetworkNode];
  const [first, , third] = nodes;
  const folder = temporaryFolder(t);
  const built = await Promise.all(['typescript', 'shell'].map((name) => project(folder, name)));
  const [points, sum] = built as [Image, Image];
  await Promise.all(nodes.map(({ start }) => start()));
  await network.connected();

  const developer = network.accounts[0]!.address;
  const [alice, bob] = network.accounts.slice(-2).map(({ address }) => address) as [string, string];
  const ask = (node: NetworkNode, args: readonly string[], input?: string): Promise<Run> => {
    const env = { PLATFORM_NODE_URL: node.rest.url, PLATFORM_NODE_API_KEY: network.apiKey };
    return run(['contract', ...args], { env, ...(input === undefined ? {} : { input }) });
  };
  const done = (answer: Run): JsonObject => {
    if (answer.code !== 0) throw new Error(`${answer.code} ${answer.stdout}${answer.stderr}`);
    return JSON.parse(answer.stdout) as JsonObject;
  };
  /** On every node, as soon as it has the block that any of them has. */
  const everywhere = async (t: Test, path: string, expected: unknown): Promise<void> => {
    const height = Math.max(...(await Promise.all(nodes.map(({ rest }) => rest.height()))));
    for (const [i, { rest }] of nodes.entries()) {
      const found = await eventually(`${path} of node ${i + 1}`, async () => {
        if ((await rest.height()) < height) return undefined;
        const { status, body } = await rest.get(path);
        return status === 200 ? body : undefined;
      });
      t.match(found, expected as object, `node ${i + 1}`);
    }
  };
  /** On a slow machine an attempt that came too late may precede the one that counts. */
  const records = async (rest: Rest, path: string): Promise<JsonObject[]> => {
    const { status, body } = await rest.get(path);
    return status === 200 ? (body as JsonObject[]) : [];
  };
  const create = (image: Image, ...more: string[]): Promise<Run> =>
    ask(first, ['create', '-', '--sender', developer, ...more, ...WAIT], JSON.stringify(image));
  const send = (to: string, amount: number): string[] => [
    '--param',
    `to:string:${to}`,
    '--param',
    `amount:integer:${amount}`,
  ];

  const [made, added] = await Promise.all([
    create(points, '--param', 'supply:integer:1000'),
    create(sum),
  ]);
  const pointsId = String(done(made)['contractId']);
  const sumId = String(done(added)['contractId']);

  await t.test('gRPC: created, called, read', async (t) => {
    t.match(done(made), {
      status: 'Success',
      height: Number,
      results: [{ key: `balance-${developer}`, type: 'integer', value: 1000 }],
    });
    const sender = ['--sender', developer];
    const called = done(
      await ask(first, ['call', pointsId, ...sender, ...send(alice, 400), ...WAIT]),
    );
    const id = String(called['txId']);
    await everywhere(t, `/contracts/executed-tx-for/${id}`, { type: 105, tx: { id } });
    for (const { rest } of nodes) {
      await eventually('the report of the miner', async () =>
        (await records(rest, `/contracts/status/${id}`)).find(({ status }) => status === 'Success'),
      );
    }
    await everywhere(t, `/contracts/${pointsId}/balance-${alice}`, { value: 400 });
    const state = done(await ask(third, ['state', pointsId, '--matches', 'balance-.*']));
    t.equal((state as unknown as []).length, 2);
  });

  await t.test('exec: created, called, read', async (t) => {
    const params = ['--param', 'a:integer:5', '--param', 'b:integer:-2'];
    const called = done(await ask(third, ['call', sumId, '--sender', alice, ...params, ...WAIT]));
    t.match(called, { results: [{ key: 'sum', type: 'integer', value: 3 }] });
    await everywhere(t, `/contracts/${sumId}/sum`, { value: 3 });
  });

  await t.test('scenario 85: calls from a pipe, sent to a node without an engine', async (t) => {
    const documents = Array.from({ length: 20 }, () => ({
      params: [
        { key: 'to', type: 'string', value: bob },
        { key: 'amount', type: 'integer', value: 10 },
      ],
    }));
    const input = documents.map((one) => JSON.stringify(one)).join('\n');
    const piped = ['call', pointsId, '-', '--ndjson', '--concurrency', '20', '--sender', alice];
    const { code, stdout, stderr } = await ask(third, [...piped, ...WAIT], input);
    t.equal(code, 0, stderr);
    const heights = new Set(jsonLines(stdout).map(({ height }) => height));
    t.equal(jsonLines(stdout).length, 20);
    t.ok(heights.size < 20, `in ${heights.size} blocks`);
    await everywhere(t, `/contracts/${pointsId}/balance-${bob}`, { value: 200 });
    await everywhere(t, `/contracts/${pointsId}/balance-${alice}`, { value: 200 });
  });

  await t.test('a refusal of the contract', async (t) => {
    for (const [id, params, why] of [
      [pointsId, send(bob, 500), `${alice} has only 200 points`],
      [sumId, [], 'a call needs integer parameters'],
    ] as const) {
      const refused = await ask(third, ['call', id, '--sender', alice, ...params, ...WAIT]);
      t.equal(refused.code, 3, refused.stderr);
      t.match(refused.stderr, new RegExp(`The contract refused it: .*${why}`));
      const record = JSON.parse(refused.stdout) as JsonObject;
      t.match(record, { status: 'Error', message: new RegExp(why) });
      const known = done(await ask(third, ['status', String(record['txId'])]));
      t.match(known, { status: 'Error', records: [{ sender: String }] });
    }
  });

  await t.test('inside an atomic transaction, all or nothing', async (t) => {
    const { rest } = third;
    const atomicBadge = { trustedSender: null };
    const own = { sender: alice, feeAssetId: null, atomicBadge };
    const params = (amount: number) => [
      { key: 'to', type: 'string', value: bob },
      { key: 'amount', type: 'integer', value: amount },
    ];
    const call = (amount: number): Promise<JsonObject> =>
      rest.sign({
        ...{ type: 104, version: 4, contractId: pointsId, contractVersion: 1 },
        ...{ ...own, params: params(amount) },
      });
    const pay = (): Promise<JsonObject> =>
      rest.sign({ ...own, type: 4, version: 3, recipient: bob, amount: 7, attachment: '' });
    const sent = async (...amounts: [number, number]): Promise<JsonObject> => {
      const transactions = [await call(amounts[0]), await pay(), await call(amounts[1])];
      return rest.broadcast(
        await rest.sign({ type: 120, version: 1, sender: alice, transactions }),
      );
    };
    const before = (await rest.get(`/addresses/balance/${bob}`)).body as { balance: number };
    const bad = (await sent(50, 500))['transactions'] as JsonObject[];
    for (const { rest } of nodes) {
      const path = `/contracts/status/${bad[2]!['id']}`;
      await eventually('the refusal of its second call', async () =>
        (await records(rest, path)).find(
          ({ status, message }) =>
            status === 'Error' && String(message).includes(`${alice} has only 150 points`),
        ),
      );
    }
    const good = await sent(50, 60);
    await rest.mined(good['id']);
    const [first105, , second105] = good['transactions'] as JsonObject[];
    for (const member of [first105!, second105!]) {
      const path = `/contracts/executed-tx-for/${member['id']}`;
      await everywhere(t, path, { type: 105, tx: { id: member['id'] } });
    }
    await everywhere(t, `/contracts/${pointsId}/balance-${bob}`, { value: 310 });
    await everywhere(t, `/contracts/${pointsId}/balance-${alice}`, { value: 90 });
    await everywhere(t, `/addresses/balance/${bob}`, { balance: BigInt(before.balance) + 7n });
  });

  await t.test('an image that no miner has, and one with another hash', async (t) => {
    for (const [image, why] of [
      ['lost:1', "Image 'lost:1' is not found"],
      [sum.image, `Image '${sum.image}' is not found`],
    ] as const) {
      const failed = await create({ image, imageHash: 'ab'.repeat(32) });
      t.equal(failed.code, 4, failed.stderr);
      t.match(failed.stderr, new RegExp(`It was not executed: .*${why}`));
      t.match(JSON.parse(failed.stdout), { status: 'Failure', code: null });
    }
  });

  await t.test('updated', async (t) => {
    appendFileSync(join(folder, 'shell/run.sh'), '# the second version\n');
    const second = await build(join(folder, 'shell'));
    const sender = ['--sender', developer];
    const update = ['update', sumId, '-', ...sender, ...WAIT];
    t.match(done(await ask(first, update, JSON.stringify(second))), { contractId: sumId });
    await everywhere(t, `/contracts/info/${sumId}`, { version: 2, imageHash: second.imageHash });
    const call = ['call', sumId, '--sender', alice, '--param', 'n:integer:8'];
    t.match(done(await ask(third, [...call, ...WAIT])), { results: [{ value: 8 }] });
    const former = await ask(third, [...call, '--contract-version', '1']);
    t.equal(former.code, 1);
    t.match(former.stderr, /doesn't match actual contract version '2'/);
  });

  await t.test('disabled', async (t) => {
    const disable = ['disable', sumId, '--sender', developer];
    t.match(done(await ask(first, [...disable, ...WAIT])), { type: 106, height: Number });
    await everywhere(t, `/contracts/info/${sumId}`, { active: false });
    const call = await ask(third, ['call', sumId, '--sender', alice, '--param', 'n:integer:1']);
    t.match(JSON.parse(call.stdout), { error: 602 });
    t.match(JSON.parse((await ask(first, disable)).stdout), { error: 603 });
    await everywhere(t, `/contracts/${sumId}/sum`, { value: 8 });
  });

  await t.test('no container outlives its node', async (t) => {
    t.ok((await containersOf(points)) > 0, 'there are some');
    await Promise.all(nodes.map(({ stop }) => stop()));
    t.equal(await containersOf(points), 0);
  });
});

t.test('a network of one node, as `npm start` runs it', { skip }, async (t) => {
  const node = await startDevNode(t, { env: { DOCKER_HOST: engine.host } });
  t.match(node.contracts, { enabled: true, engine: engine.host });
  const sum = await project(temporaryFolder(t), 'shell');
  const { code, stdout, stderr } = await run(
    ['contract', 'create', '-', '--sender', node.owner, ...WAIT],
    {
      env: { PLATFORM_NODE_URL: node.rest.url, PLATFORM_NODE_API_KEY: node.apiKey },
      input: JSON.stringify(sum),
    },
  );
  t.equal(code, 0, stderr);
  t.match(JSON.parse(stdout), { results: [{ key: 'sum', type: 'integer', value: 0 }] });
  t.equal(await containersOf(sum), 1);
  await node.stop();
  t.equal(await containersOf(sum), 0);
});

async function containersOf({ imageHash }: Image): Promise<number> {
  const all = await containersWith(engine.socketPath, NODE_LABEL);
  return all.filter(({ ImageID }) => ImageID === `sha256:${imageHash}`).length;
}

/** With a line of its own, so that its containers are told apart from those of other tests. */
async function project(folder: string, template: string): Promise<Image> {
  const place = join(folder, template);
  const { code, stderr } = await run(['contract', 'init', place, '--template', template]);
  if (code !== 0) throw new Error(stderr);
  const [file, mark] = template === 'shell' ? ['run.sh', '#'] : ['main.ts', '//'];
  appendFileSync(join(place, file), `${mark} ${folder}\n`);
  return build(place);
}

async function build(folder: string): Promise<Image> {
  const built = await run(['contract', 'build', folder, '--docker-host', engine.host]);
  if (built.code !== 0) throw new Error(built.stderr);
  return JSON.parse(built.stdout) as Image;
}
