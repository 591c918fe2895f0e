/**
 * Shell contracts that read the state, on every node of `platform-node dev`, without a setting.
 */
import t from 'tap';
import type { JsonObject } from '../../../src/base/json/json.ts';
import { type Engine, sharedEngine } from '../../containers/engine.ts';
import { simpleImage, whyNoBusybox } from '../../containers/images.ts';
import { leftOut } from '../../left-out.ts';
import { startDevNetwork } from './dev-node.ts';
import { eventually } from './process.ts';

t.setTimeout(300_000);

const shared = await sharedEngine();
const reason = typeof shared === 'string' ? shared : whyNoBusybox();
const skip = reason !== undefined && leftOut(reason);
const engine = shared as Engine;

/** Counts its calls. */
const COUNT = `#!/bin/sh
if [ "$COMMAND" = CREATE ]; then
  echo '[{"key":"count","type":"integer","value":0}]'
  exit 0
fi
id=$(echo "$TX" | sed 's/.*"contractId":"\\([^"]*\\)".*/\\1/')
url=$NODE_API/internal/contracts/$id/count
old=$(wget -q -O - --header "X-Contract-Api-Token: $API_TOKEN" "$url" | sed 's/.*"value":\\([0-9]*\\).*/\\1/')
echo "[{\\"key\\":\\"count\\",\\"type\\":\\"integer\\",\\"value\\":$((old + 1))}]"
`;

t.test('a shell contract reads the state on every node of dev', { skip }, async (t) => {
  const image = await simpleImage(engine, COUNT);
  const nodes = ['--nodes', '2', '--round', '3s'];
  const network = await startDevNetwork(t, [...nodes, '--docker-host', engine.host]);
  const [rest] = network.rests;
  const sender = network.owners[0];
  const send = async (tx: JsonObject): Promise<string> =>
    String((await rest!.broadcast(await rest!.sign({ sender, ...tx })))['id']);
  const minerOf = (id: string): Promise<string> =>
    eventually(`the result of ${id}`, async () => {
      const { status, body } = await rest!.get(`/contracts/executed-tx-for/${id}`);
      return status === 200 ? String((body as JsonObject)['sender']) : undefined;
    });

  const created = { type: 103, version: 1, ...image, contractName: 'count', params: [] };
  const contractId = await send(created);
  await minerOf(contractId);
  const miners = new Set<string>();
  let calls = 0;
  while (miners.size < 2 && calls < 20) {
    miners.add(await minerOf(await send({ type: 104, version: 1, contractId, params: [] })));
    calls++;
  }
  t.same(miners, new Set(network.owners), 'both nodes have executed calls');
  const { body } = await rest!.get(`/contracts/${contractId}/count`);
  t.match(body, { value: calls });
});
