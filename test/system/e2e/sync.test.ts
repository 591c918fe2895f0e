/** An empty node among real processes with a long chain. `npm run test:sync` has one of 10,000 blocks. */
import t from 'tap';
import type { Block } from '../../../src/block/block.ts';
import { madeChain, putBlocks } from './made-chain.ts';
import { eventually } from './process.ts';
import { agreed, processNetwork, stateHashes } from './process-network.ts';

/** More than a node asks for at once. */
const BLOCKS = Number(process.env['SYNC_BLOCKS'] ?? 1500);
const ROUND_MS = 500;
/** Between the last block that is made here and now, for the making and the start. */
const SPARE_MS = 240_000;
const SYNC_MS_MAX = 240_000;

t.setTimeout(480_000);

t.test(`scenario 105: ${BLOCKS} blocks from three peers, killed in the middle`, async (t) => {
  const ageMs = BLOCKS * ROUND_MS + SPARE_MS;
  const network = await processNetwork(t, { nodes: 4, roundMs: ROUND_MS, ageMs });
  const made = await madeChain(network);
  const blocks: Block[] = [];
  while (blocks.length < BLOCKS) blocks.push(await made.produceBlock());
  const [empty, ...full] = [...network.nodes].reverse();
  await putBlocks(
    made,
    blocks,
    full.map(({ config }) => config),
  );
  await Promise.all(full.map((node) => node.start()));
  await network.connected([0, 1, 2]);

  // Slow enough to be caught in the middle.
  network.slow(20);
  await empty!.start();
  const reached = await eventually(
    'a third of the chain',
    async () => {
      const height = await empty!.rest.height();
      return height > BLOCKS / 3 ? height : undefined;
    },
    SYNC_MS_MAX,
  );
  t.ok(reached < BLOCKS, `killed at ${reached}`);
  await empty!.kill();
  network.heal();
  await empty!.start();
  t.ok((await empty!.rest.height()) >= reached, 'goes on where it was');
  await eventually(
    'the whole chain',
    async () => (await empty!.rest.height()) > BLOCKS || undefined,
    SYNC_MS_MAX,
  );
  const height = await agreed(network.nodes, BLOCKS + 1);
  for (const node of network.nodes) await node.stop();
  const hashes = await stateHashes(network.nodes, height);
  t.match(hashes[0], /^[0-9a-f]{64}$/);
  t.strictSame(hashes, Array(4).fill(hashes[0]));
});
