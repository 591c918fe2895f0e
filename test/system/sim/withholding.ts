/**
 * Blocks that their makers withhold: signed in time, and published after their successors. To the
 * others that is a miner that missed its turn and comes too late.
 */

import { consensusView } from '../../../src/chain/apply/consensus-view.ts';
import { isBanned } from '../../../src/consensus/ban-history.ts';
import type { Cluster } from './cluster.ts';
import type { SimNode } from './node.ts';
import type { Dice } from './random.ts';
import { BAN_BLOCKS, LENGTH_MS } from './settings.ts';

/** Nothing that one of the miners makes in its next turn leaves it before the turn is over. */
export function withholdNext(cluster: Cluster, dice: Dice): void {
  const able = cluster.running().filter(({ member }) => member.part === 'miner');
  if (able.length === 0) return;
  const { member, blockchain, clock, name } = dice.pick(able);
  const slot = blockchain.nextSlot(member.account, clock.now());
  if (slot === undefined) return;
  // Sometimes just before the end of the round, sometimes a round or two later.
  const ms = dice.between(LENGTH_MS - 500, 2.5 * LENGTH_MS);
  cluster.world.after(Math.max(1, slot.from - clock.now()), () => {
    cluster.trace(name, `withholds what it makes for ${ms} ms`);
    cluster.weather.withhold(member.host, ms);
  });
}

/** Names of the members that a node takes for banned at its tip. */
export function bannedAt({ blockchain, config }: SimNode, cluster: Cluster): string[] {
  if (config.blockchain.consensus.type !== 'poa') return [];
  const { height } = blockchain.tip();
  const state = consensusView(blockchain.view);
  return cluster.options.members
    .filter(({ account }) => isBanned(state.banHistory(account.address), height, BAN_BLOCKS))
    .map(({ name }) => name);
}
