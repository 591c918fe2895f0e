/** Chains with the feature of finality, and votes of their miners. */

import { equal } from '../../src/base/bytes.ts';
import { type Block, decodeBlock } from '../../src/block/block.ts';
import { ChainBlocks, rootHeight } from '../../src/chain/finality/finality-state.ts';
import { blockAt } from '../../src/chain/store/stored-blocks.ts';
import { voteFor } from '../../src/finality/carried.ts';
import { encodeJustification } from '../../src/finality/proofs/justification.ts';
import { type Vote, voteBytes } from '../../src/finality/votes/vote.ts';
import { decidingOn } from '../../src/finality/votes/voter-set.ts';
import { unchecked } from '../../src/tx/proof-verdicts.ts';
import { feature } from '../../src/tx/rules/features.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import {
  type Account,
  miners,
  newChain,
  nextTurn,
  rules,
  scheme,
  type TestChain,
} from './chain-harness.ts';
import { makeBlock } from './make-block.ts';

export const WITH_FINALITY: typeof rules = {
  ...rules,
  preActivatedFeatures: new Map([
    ...rules.preActivatedFeatures,
    [feature.finality, 0],
    [feature.votersStay, 0],
  ]),
};

export const chainWith = (settings = WITH_FINALITY): Promise<TestChain> =>
  newChain(createMemoryStore(), settings);

export const fresh = ({ bytes }: Block): Block => decodeBlock(bytes, scheme);

/** Those above the genesis block. */
export const blocksOfChain = ({ blockchain }: TestChain): Block[] =>
  Array.from({ length: blockchain.tip().height - 1 }, (_, i) =>
    fresh(blockAt(blockchain.view, i + 2)!),
  );

/** The same blocks on a node with other settings. */
export async function chainOf(
  blocks: readonly Block[],
  settings: typeof WITH_FINALITY,
  time: number,
): Promise<TestChain> {
  const at = await chainWith(settings);
  at.clock.time = time;
  for (const block of blocks) await at.blockchain.append(fresh(block));
  return at;
}

export function blocksOf({ blockchain }: TestChain, settings = WITH_FINALITY): ChainBlocks {
  const { view } = blockchain;
  return new ChainBlocks(view, new Map(), rootHeight(view, settings)!);
}

/** What votes for the block at a height say, and who decides on it. */
export function linkTo(at: TestChain, height: number, settings = WITH_FINALITY) {
  const chain = blocksOf(at, settings);
  const block = chain.at(height)!;
  const deciding = decidingOn(block.deciding, scheme);
  return { vote: voteFor(block, deciding, chain.checkpoint(1).id), deciding };
}

/** The justification of the block at a height by these accounts. */
export function justificationOf(
  at: TestChain,
  height: number,
  voters: readonly Account[] = miners,
  change: Partial<Vote> = {},
  settings = WITH_FINALITY,
): Uint8Array {
  const { vote, deciding } = linkTo(at, height, settings);
  const message = voteBytes({ ...vote, ...change }, scheme);
  const votes = deciding.members.keys.map((key) =>
    voters.find(({ publicKey }) => equal(publicKey, key))?.sign(message),
  );
  return encodeJustification({ target: change.target ?? vote.target, votes }, scheme);
}

/** Lets the next miner make a block that carries this. */
export function mineCarrying(
  at: TestChain,
  carried: Uint8Array,
  txs: readonly Tx[] = [],
): Promise<Block> {
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  const generator = { ...miner, carried: () => carried };
  return makeBlock(at.blockchain, generator, time, async (draft) => {
    for (const tx of txs) draft.add(tx, unchecked(tx));
  });
}
