/**
 * The data of a node are damaged while it is stopped: a peer supplies a block again, and the journal
 * of the pool loses only what was destroyed.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openJournal } from '../../../src/adapters/journal.ts';
import { checkFile } from '../../../src/adapters/lmdb/check.ts';
import { base58 } from '../../../src/base/base58.ts';
import { loadConfig } from '../../../src/cli/config-file.ts';
import { tables } from '../../../src/ledger/tables.ts';
import { startNode } from './dev-node.ts';
import { flipIn } from './flipped-bit.ts';
import { API_KEY, networkFolder, OWNER } from './network-folder.ts';
import { agreed, blockId, processNetwork, stateHashes } from './process-network.ts';

const BLOCKS = 12;
const DAMAGED = 6;

t.setTimeout(240_000);

t.test('a damaged block is fetched again from a peer', async (t) => {
  const network = await processNetwork(t, { nodes: 2, roundMs: 1000 });
  for (const node of network.nodes) await node.start();
  await network.connected();
  await agreed(network.nodes, BLOCKS);
  const [healthy, damaged] = network.nodes;
  const id = await blockId(damaged!.rest, DAMAGED);
  await damaged!.stop();
  const { config } = await loadConfig(damaged!.config);
  const path = join(config.dataDirectory, 'chain', 'data.mdb');
  await flipIn(path, base58.decode(id!));

  await damaged!.start();
  t.match(damaged!.log(), /store\.damaged/);
  t.match(damaged!.log(), /store\.rebuilt/);
  const height = await agreed(network.nodes, (await healthy!.rest.height()) + 1);
  t.equal(await blockId(damaged!.rest, DAMAGED), id, 'the block is there again');
  for (const node of network.nodes) await node.stop();
  const hashes = await stateHashes(network.nodes, height);
  t.equal(hashes[0], hashes[1], 'both have one state');
  t.equal((await checkFile(path, tables)).kind, 'intact');
});

t.test('two damaged neighbours in the journal of the pool cost no other transaction', async (t) => {
  const { config, dir } = await networkFolder(t, { more: '  miner.enable = no' });
  const first = await startNode(t, config, { apiKey: API_KEY });
  const ids: string[] = [];
  for (let amount = 1; amount <= 5; amount++) {
    const transfer = { type: 4, version: 2, sender: OWNER.address, recipient: OWNER.address };
    const signed = await first.rest.sign({ ...transfer, password: '', amount, fee: 1_000_000 });
    ids.push(String((await first.rest.broadcast(signed))['id']));
  }
  await first.kill();
  const path = join(dir, 'data', 'pool.journal');
  const bytes = readFileSync(path);
  const journal = openJournal({ path });
  await journal.close();
  const [, second, third] = journal.recovered;
  bytes.fill(0, bytes.indexOf(second!) - 4, bytes.indexOf(third!) + 4);
  writeFileSync(path, bytes);

  const again = await startNode(t, config, { apiKey: API_KEY });
  t.match(again.log(), /"event":"pool\.journal-damaged","records":3,"places":1,"bytes":\d+/);
  t.match(again.log(), `"kept":"${path}.damaged-1"`);
  const waiting = (await again.rest.get('/transactions/unconfirmed')).body as { id: string }[];
  t.strictSame(waiting.map(({ id }) => id).sort(), [ids[0], ids[3], ids[4]].sort());
  t.equal((await again.stop()).code, 0);
});
