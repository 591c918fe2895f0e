// The only miner of a network is killed again and again as soon as it has noted a turn, which is before
// the commit of its block. Every block that it has ever noted comes into its chain, and the chain goes
// on. TURN_KILLS sets the number of kills.
import { copyFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openJournal } from '../../../src/adapters/journal.ts';
import { base58 } from '../../../src/base/base58.ts';
import { decodeBlock } from '../../../src/block/block.ts';
import { createChainScheme } from '../../../src/crypto/chain-scheme.ts';
import { readRecord } from '../../../src/miner/slot-records.ts';
import { family } from '../../family.ts';
import { type DevNode, startDevNode, temporaryFolder } from '../e2e/dev-node.ts';

const KILLS = Number(process.env['TURN_KILLS'] ?? 4);
const KILL_MS_MAX = 120_000;

t.setTimeout(120_000 + 2 * KILLS * KILL_MS_MAX);

const pathOf = ({ dir }: DevNode): string => join(dir, 'data', 'turns.journal');

/** Resolves with the next write to the file. */
const nextNote = (node: DevNode): Promise<void> =>
  new Promise((resolve) => {
    const watcher = watch(pathOf(node), () => {
      watcher.close();
      resolve();
    });
  });

/** The ids of all blocks that were ever noted, and how many turns they are of. */
async function notedBy(node: DevNode, folder: string) {
  const path = join(folder, 'copy.journal');
  copyFileSync(pathOf(node), path);
  const journal = openJournal({ path });
  const scheme = createChainScheme(family, node.chainId.charCodeAt(0));
  const sealed = journal.recovered.map(readRecord).filter(({ kind }) => kind === 'sealed');
  await journal.close();
  return {
    turns: new Set(sealed.map(({ turn }) => turn)).size,
    ids: new Set(
      sealed.map(({ bytes }) => base58.encode(decodeBlock(bytes, scheme).header.signature)),
    ),
  };
}

for (const consensus of ['pos', 'poa'] as const) {
  t.test(`${consensus}: ${KILLS} kills between claim and commit`, async (t) => {
    const folder = temporaryFolder(t);
    let node = await startDevNode(t, { consensus, dir: join(folder, 'dev') });
    let finished = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      await nextNote(node);
      await node.kill9();
      finished += node.log().split('miner.block-finished').length - 1;
      node = await node.restart();
    }
    const start = await node.rest.height();
    while ((await node.rest.height()) < start + 3) await nextNote(node);
    await node.kill9();
    finished += node.log().split('miner.block-finished').length - 1;
    node = await node.restart();
    const height = await node.rest.height();
    const { ids, turns } = await notedBy(node, folder);
    t.equal(ids.size, turns, 'no turn has two blocks');
    const stored = new Set<string>();
    for (let at = 2; at <= height; at++) {
      const { body } = await node.rest.get(`/blocks/headers/at/${at}`);
      stored.add((body as { signature: string }).signature);
    }
    // The last ones may be under way.
    const lost = [...ids].slice(0, -2).filter((id) => !stored.has(id));
    t.strictSame(lost, []);
    t.ok(finished > 0, `${finished} of ${height} blocks were finished by a later life`);
    await node.stop();
  });
}
