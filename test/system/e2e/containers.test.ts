/**
 * Contracts in real containers, run by real nodes: results in blocks of both, state read from inside,
 * and nothing left in the engine when a node ends, in good order or not.
 */
import t, { type Test } from 'tap';
import type { JsonObject } from '../../../src/base/json/json.ts';
import { freePorts } from '../../../src/cli/commands/dev/free-ports.ts';
import { containersWith, engineJson } from '../../containers/api.ts';
import { type Engine, sharedEngine } from '../../containers/engine.ts';
import { simpleImage, whyNoBusybox } from '../../containers/images.ts';
import { leftOut } from '../../left-out.ts';
import { eventually } from './process.ts';
import { type NetworkNode, type ProcessNetwork, processNetwork } from './process-network.ts';

t.setTimeout(400_000);
/** Three such files run beside one another, and an engine shares two slow cores with their nodes. */
const EXECUTED_MS_MAX = 150_000;

const shared = await sharedEngine();
const reason = typeof shared === 'string' ? shared : whyNoBusybox();
const skip = reason !== undefined && leftOut(reason);
const engine = shared as Engine;

/** Adds up what calls bring. A call with 13 takes its time. */
const SUM = `#!/bin/sh
if [ "$COMMAND" = CREATE ]; then
  echo '[{"key":"sum","type":"integer","value":0}]'
  exit 0
fi
id=$(echo "$TX" | sed 's/.*"contractId":"\\([^"]*\\)".*/\\1/')
add=$(echo "$TX" | sed 's/.*"params":\\[\\([^]]*\\)\\].*/\\1/' | sed 's/.*"value":\\([0-9]*\\).*/\\1/')
[ "$add" = 13 ] && sleep 1.5
[ "$add" = 99 ] && echo "no such number" && exit 3
[ "$add" = 98 ] && echo "try again" && exit 1
[ "$add" = 97 ] && echo "Hello" && exit 0
[ "$add" = 96 ] && sleep 1000
url=$NODE_API/internal/contracts/$id/sum
old=$(wget -q -O - --header "X-Contract-Api-Token: $API_TOKEN" "$url" | sed 's/.*"value":\\([0-9]*\\).*/\\1/')
echo "[{\\"key\\":\\"sum\\",\\"type\\":\\"integer\\",\\"value\\":$((old + add))}]"
`;

let network: ProcessNetwork;
let [a, b] = [] as unknown as [NetworkNode, NetworkNode];
let contractId = '';

const send = async (tx: JsonObject): Promise<string> => {
  const { id } = await a.rest.broadcast(await a.rest.sign({ sender: a.owner.address, ...tx }));
  return String(id);
};
const add = (value: number, to = contractId): Promise<string> =>
  send({
    ...{ type: 104, version: 1, contractId: to },
    params: [{ key: 'add', type: 'integer', value }],
  });
const executed = ({ rest }: NetworkNode, id: string): Promise<JsonObject> =>
  eventually(
    `the result of ${id}`,
    async () => {
      const { status, body } = await rest.get(`/contracts/executed-tx-for/${id}`);
      return status === 200 ? (body as JsonObject) : undefined;
    },
    EXECUTED_MS_MAX,
  );
const sumAt = async ({ rest }: NetworkNode): Promise<unknown> =>
  ((await rest.get(`/contracts/${contractId}/sum`)).body as JsonObject)['value'];
const running = () => containersWith(engine.socketPath, 'platform-node.node');
const ofNetwork = async (imageId: string) =>
  (await running()).filter(({ ImageID }) => ImageID === `sha256:${imageId}`);

/** In a contract and an image of its own: failures that pass are tried again and again. */
async function failingCalls(t: Test): Promise<void> {
  const image = await simpleImage(engine, `${SUM}# fails ${process.pid}\n`);
  const id = await send({ type: 103, version: 1, ...image, contractName: 'fails', params: [] });
  await Promise.all([executed(a, id), executed(b, id)]);
  const outcome = async (value: number): Promise<unknown> => {
    const call = await add(value, id);
    const statuses = await eventually(`the status of ${value}`, async () => {
      const { status, body } = await b.rest.get(`/contracts/status/${call}`);
      return status === 200 ? (body as JsonObject[]) : undefined;
    });
    const { status } = await b.rest.get(`/contracts/executed-tx-for/${call}`);
    t.equal(status, 404, 'nothing is on the chain');
    return statuses[0];
  };
  t.match(await outcome(99), { status: 'Error', code: 3, message: 'no such number' });
  t.match(await outcome(97), { status: 'Failure', code: null, message: /'Hello' as JSON/ });
  t.match(await outcome(98), { status: 'Failure', code: 1, message: /code '1': try again/ });
  const [before] = await ofNetwork(image.imageHash);
  t.match(await outcome(96), { status: 'Failure', code: 1, message: /execution timeout/ });
  const gone = async () => (await ofNetwork(image.imageHash)).every(({ Id }) => Id !== before?.Id);
  await eventually('the end of its container', async () => (await gone()) || undefined);
}

t.test('a contract lives through the ends of its nodes', { skip }, async (t) => {
  const ports = await freePorts(2);
  // An image of its own tells these containers from those of other tests.
  const image = await simpleImage(engine, `${SUM}# ${process.pid}\\n`);
  network = await processNetwork(t, {
    nodes: 2,
    roundMs: 4000,
    set: (index) => [
      'docker-engine.enable=yes',
      `docker-engine.docker-host=${engine.host}`,
      `docker-engine.rest-listen=0.0.0.0:${ports[index]}`,
      'docker-engine.pull=never',
      'docker-engine.execution-limits.timeout=2s',
    ],
  });
  [a, b] = network.nodes as [NetworkNode, NetworkNode];
  await Promise.all([a.start(), b.start()]);
  await network.connected();

  contractId = await send({ type: 103, version: 1, ...image, contractName: 'sum', params: [] });
  await Promise.all([executed(a, contractId), executed(b, contractId)]);
  const calls = await Promise.all([add(1), add(2), add(3)]);
  for (const id of calls) await Promise.all([executed(a, id), executed(b, id)]);
  t.equal(await sumAt(a), 6, 'each call saw the results before it');
  t.equal(await sumAt(b), 6);

  await t.test('scenario 80: calls that fail', (t) => failingCalls(t));

  // Whichever node executes the slow call dies in the middle of it.
  const slow = await add(13);
  const pid = await eventually('a call that runs', async () => {
    for (const { Id } of await ofNetwork(image.imageHash)) {
      if (await isSleeping(Id)) return Id;
    }
    return undefined;
  });
  t.ok(pid);
  await Promise.all([a.kill(), b.kill()]);
  t.ok((await ofNetwork(image.imageHash)).length > 0, 'killed nodes cannot tidy up');
  await Promise.all([a.start(), b.start()]);
  t.strictSame(
    (await ofNetwork(image.imageHash)).filter(({ Id }) => Id === pid),
    [],
    'but the next start does',
  );
  await network.connected();
  await Promise.all([executed(a, slow), executed(b, slow)]);
  t.equal(await sumAt(a), 19, 'what was acknowledged is done, once');

  await add(13);
  await eventually('a call that runs', async () => {
    const rows = await ofNetwork(image.imageHash);
    const asleep = await Promise.all(rows.map(({ Id }) => isSleeping(Id)));
    return asleep.includes(true) || undefined;
  });
  const started = performance.now();
  await Promise.all([a.stop(), b.stop()]);
  t.ok(performance.now() - started < 10_000, 'scenario 111: the node ends in time');
  t.strictSame(await ofNetwork(image.imageHash), [], 'no container is left');
});

/** True while the slow call runs in the container. */
async function isSleeping(id: string): Promise<boolean> {
  try {
    const path = `/containers/${id}/top?ps_args=${encodeURIComponent('-eo pid,args')}`;
    const { Processes } = await engineJson<{ Processes: string[][] }>(engine.socketPath, path);
    return Processes.some((words) => words.join(' ').includes('sleep 1.5'));
  } catch {
    // It is just being removed.
    return false;
  }
}
