// Blocks of `dev` become final: from the first one on, after a kill, and where the chain is removed. What a
// rollback says of it, and a network without.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { run } from '../../cli/run.ts';
import { type DevNode, startDevNode } from './dev-node.ts';

t.setTimeout(240_000);

const finalHeight = async ({ rest }: DevNode): Promise<number> =>
  ((await rest.get('/finality')).body as { finalHeight: number }).finalHeight;

async function finalAbove(node: DevNode, height: number): Promise<void> {
  while ((await finalHeight(node)) <= height) await sleep(100);
}

/** A transfer, and the wait for its final block. */
function sendFinal({ accounts, apiKey, rest }: DevNode) {
  const [sender, recipient] = accounts.slice(1).map(({ address }) => address);
  const words = ['--sender', sender!, '--recipient', recipient!, '--amount', '1'];
  const env = { PLATFORM_NODE_API_KEY: apiKey, PLATFORM_NODE_URL: rest.url };
  return run(['tx', 'send', 'transfer', ...words, '--wait-final', '30'], { env });
}

t.test('one node votes by itself', async (t) => {
  let node = await startDevNode(t, { round: '500ms' });
  await finalAbove(node, 3);
  const sent = await sendFinal(node);
  t.equal(sent.code, 0, sent.stderr);

  await node.kill9();
  node = await node.restart();
  const before = await finalHeight(node);
  await finalAbove(node, before + 2);
  await node.stop();

  const config = join(node.dir, 'node.conf');
  const back = await run(['chain', 'rollback', config, '2']);
  t.match(back, { code: 1, stderr: /height \d+ is final and is never taken back/ });

  rmSync(join(node.dir, 'data'), { recursive: true });
  node = await node.restart();
  await finalAbove(node, 1);
  t.ok((await node.rest.height()) < before, 'it is another chain');
  await node.stop();
});

t.test('without finality blocks are taken back', async (t) => {
  const node = await startDevNode(t, { round: '200ms', finality: false });
  while ((await node.rest.height()) < 5) await sleep(50);
  t.match(await node.rest.get('/finality'), { status: 200, body: { isActive: false } });
  const sent = await sendFinal(node);
  t.match(sent, { code: 1, stderr: /Nobody votes on the blocks/ });
  await node.stop();
  const back = await run(['chain', 'rollback', join(node.dir, 'node.conf'), '2']);
  t.match(back, { code: 0 }, back.stderr);
});

t.test('a folder keeps what its network was founded with', async (t) => {
  const node = await startDevNode(t);
  await node.stop();
  const words = ['--dir', node.dir, '--keep', '--no-data', '--rest-port', '0', '--no-finality'];
  t.match(await run(['dev', ...words]), {
    code: 1,
    stderr: /and finality, which cannot be changed/,
  });
});
