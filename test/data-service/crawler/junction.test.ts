/** Which of several nodes decides where the stored chain goes on (data-service.md#reorganisations). */
import t, { type Test } from 'tap';
import { undiciClient } from '../../../src/adapters/http/undici.ts';
import { systemClock } from '../../../src/adapters/system.ts';
import type { HttpReply } from '../../../src/base/ports/http.ts';
import { DeepReorganisation } from '../../../src/data-service/crawler/find-ancestor.ts';
import { findJunction } from '../../../src/data-service/crawler/junction.ts';
import { OtherNetwork } from '../../../src/data-service/crawler/network.ts';
import { NodeAway, NodeReader } from '../../../src/data-service/crawler/node-reader.ts';
import { readTip } from '../../../src/data-service/crawler/store-end.ts';
import { crawl } from '../crawling.ts';
import { type MadeChain, madeChain } from '../made-chain.ts';
import { madeNode } from '../made-node.ts';
import { onBothStores } from '../stores.ts';

t.setTimeout(240_000);

const BLOCKS = 30;
const TIP = BLOCKS + 1;
const MAX_ROLLBACK = 10;

const grown = (seed = 'junction'): MadeChain => {
  const chain = madeChain({ seed, txsPerBlock: 1, accounts: 5 });
  chain.grow(BLOCKS);
  return chain;
};

/** The same chain up to another block, `depth` below its end. */
const branch = (depth: number, blocks: number): MadeChain => {
  const chain = grown();
  chain.reorganise(depth, blocks);
  return chain;
};

const behind = (chain: MadeChain, by: number): MadeChain => ({
  ...chain,
  height: () => chain.height() - by,
  block: (height) => (height > chain.height() - by ? undefined : chain.block(height)),
});

const away: HttpReply = { status: 502, type: 'application/json', body: '{}' };

await onBothStores(t, 'one of several nodes decides', async (t, open) => {
  const db = await open();
  const chain = grown();
  const first = crawl(t, db, [(await madeNode(t, () => chain)).url]);
  await first.reached(TIP, chain.signature(TIP));
  await first.stop();
  const tip = await readTip(db);
  const http = undiciClient();
  t.teardown(() => http.close());
  const url = async (shown: MadeChain, instead = (): HttpReply | undefined => undefined) =>
    (await madeNode(t, () => shown, { instead })).url;
  const nodes = {
    same: await url(chain),
    shorter: await url(branch(6, 3)),
    longer: await url(branch(6, 8)),
    deep: await url(branch(20, 25)),
    behind: await url(behind(chain, 4)),
    other: await url(grown('another network')),
    away: await url(chain, () => away),
  };
  type Name = keyof typeof nodes;
  const decided = (...names: readonly Name[]) => {
    const urls = names.map((name) => nodes[name]);
    const reader = new NodeReader(
      { urls },
      { http, clock: systemClock(undefined), failed: () => undefined },
    );
    return findJunction(db, reader, tip, MAX_ROLLBACK);
  };
  const follows = async (t: Test, height: number, ...names: readonly Name[]): Promise<void> => {
    t.match(await decided(...names), { after: { height } }, names.join(', '));
  };
  await follows(t, TIP, 'same');
  await follows(t, TIP - 6, 'longer');
  await follows(t, TIP - 6, 'longer', 'away');
  await follows(t, TIP - 6, 'shorter');
  await follows(t, TIP - 6, 'shorter', 'behind');
  await follows(t, TIP, 'shorter', 'same');
  await follows(t, TIP, 'deep', 'same');
  await follows(t, TIP, 'other', 'same');
  await follows(t, TIP, 'behind', 'same');
  t.equal(await decided('behind'), undefined);
  t.equal(await decided('behind', 'away'), undefined, 'a reason beside one that is behind');
  t.equal(await decided('behind', 'deep'), undefined);
  await t.rejects(
    decided('shorter', 'away'),
    NodeAway,
    'the one that is away may have a longer one',
  );
  await t.rejects(decided('deep', 'away'), NodeAway);
  await t.rejects(decided('other', 'away'), NodeAway);
  await t.rejects(decided('other', 'deep'), DeepReorganisation);
  await t.rejects(decided('other'), OtherNetwork);
});
