/**
 * `npm start` is light where it begins: the node has at most 150 MB with its first block, and PGlite
 * leaves the processor to it until then.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { memoryOf } from '../../../bench/measure/memory.ts';
import { startDevNetwork, temporaryFolder } from './dev-node.ts';

const BYTES_MAX = 150e6;
const MIB = 2 ** 20;
/** So long that PGlite would have begun before the first block. */
const ROUND = '8s';

const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

t.test('the first block of a network', async (t) => {
  const dir = temporaryFolder(t);
  const options = ['--dir', dir, '--keep', '--round', ROUND, '--data-port', '0'];
  const { rests, command } = await startDevNetwork(t, options);
  // Made by PGlite, before it opens its store.
  const store = join(dir, 'data-service');
  let asked = 0;
  for (;;) {
    const isThere = existsSync(store);
    if ((await rests[0]!.height()) > 1) break;
    asked++;
    t.notOk(isThere, 'the search waits for a block');
    await later();
  }
  t.ok(asked > 0, 'the node was asked before its first block');
  const { rssMb } = memoryOf(command.pid);
  t.ok(rssMb * MIB <= BYTES_MAX, `the node has ${Math.round((rssMb * MIB) / 1e6)} MB`);
  while (!existsSync(store)) await later();
});
