/** A node that is stopped, killed and started again while clients keep it busy. */
import t from 'tap';
import type { JsonObject } from '../../../src/base/json/json.ts';
import { type DevNode, startDevNode } from './dev-node.ts';
import { lostOf, startLoad } from './load.ts';
import { eventually } from './process.ts';

const ACKNOWLEDGED = 150;

/** Every block up to `height` with its signature, to compare before and after. */
async function blocks({ rest }: DevNode, height: number): Promise<string[]> {
  const { body } = await rest.get(`/blocks/headers/seq/1/${height}`);
  return (body as JsonObject[]).map(({ signature }) => String(signature));
}

async function busyNode(t: Parameters<typeof startDevNode>[0]) {
  const node = await startDevNode(t, { round: '500ms' });
  const load = startLoad(node);
  await load.reached(ACKNOWLEDGED);
  await eventually('a block with transactions', async () => {
    const { body } = await node.rest.get('/blocks/last');
    return Number((body as JsonObject)['transactionCount']) > 0 ? true : undefined;
  });
  const height = await node.rest.height();
  return { node, load, height, before: await blocks(node, height) };
}

t.test('scenario 111: SIGTERM under load', async (t) => {
  const { node, load, height, before } = await busyNode(t);
  const asked = Date.now();
  const exit = await node.stop();
  const ms = Date.now() - asked;
  await load.ended;
  t.strictSame(exit, { code: 0, signal: null });
  t.ok(ms < 10_000, `it took ${ms} ms`);
  t.match(node.log(), /node\.stopped/);

  const again = await node.restart();
  t.strictSame(await blocks(again, height), before, 'every block is there again');
  t.strictSame(await lostOf(again, load.acknowledged), [], 'so is every acknowledged transaction');
  await eventually('a further block', async () =>
    (await again.rest.height()) > height ? true : undefined,
  );
  t.match(await again.stop(), { code: 0 });
});

t.test('kill -9 loses neither blocks nor acknowledged transactions', async (t) => {
  let { node, load, height, before } = await busyNode(t);
  const acknowledged: string[] = [];
  for (let round = 0; round < 2; round++) {
    await node.kill9();
    await load.ended;
    acknowledged.push(...load.acknowledged);
    node = await node.restart();
    t.strictSame((await blocks(node, height)).slice(0, before.length), before);
    t.strictSame(await lostOf(node, acknowledged), [], `kill ${round + 1}`);
    load = startLoad(node);
    await load.reached(50);
    height = await node.rest.height();
    before = await blocks(node, height);
  }
  load.end();
  await load.ended;
  acknowledged.push(...load.acknowledged);
  await eventually('an empty pool', async () => {
    const { body } = await node.rest.get('/transactions/unconfirmed/size');
    return (body as { size: number }).size === 0 ? true : undefined;
  });
  for (const id of acknowledged) await node.rest.mined(id);
  t.match(await node.stop(), { code: 0 });
});
