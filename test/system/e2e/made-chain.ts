/** Blocks of a network of processes that the test makes itself, because it has all keys. */

import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openLmdbStore } from '../../../src/adapters/lmdb/store.ts';
import { systemClock, systemRandom } from '../../../src/adapters/system.ts';
import type { Store } from '../../../src/base/ports/store.ts';
import type { SignNow } from '../../../src/base/signer/signing.ts';
import type { Block } from '../../../src/block/block.ts';
import type { MinerKey } from '../../../src/chain/apply/produce-block.ts';
import type { Blockchain } from '../../../src/chain/blockchain.ts';
import { replayBlocks } from '../../../src/chain/import/import-blocks.ts';
import { loadConfig } from '../../../src/cli/config-file.ts';
import { genesisBlock } from '../../../src/cli/genesis-block.ts';
import { tables } from '../../../src/ledger/tables.ts';
import type { Config } from '../../../src/node/config/settings.ts';
import { openBlockchain } from '../../../src/node/open-blockchain.ts';
import { quiet } from '../../chain/chain-harness.ts';
import { makeBlock } from '../../chain/make-block.ts';
import { inlineVerifier } from '../../simulated/inline-verifier.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';
import { family } from './network-folder.ts';
import { type ProcessNetwork, scheme } from './process-network.ts';

type Miner = MinerKey & { readonly sign: SignNow };

export interface MadeChain {
  readonly config: Config;
  readonly genesis: Block;
  readonly blockchain: Blockchain;
  /** Owners of the nodes, who all make blocks. */
  readonly miners: readonly Miner[];
  /** Who makes the next block, and when: no round is left out. */
  turn(): { readonly miner: Miner; readonly from: number };
  /** Makes it. */
  produceBlock(): Promise<Block>;
}

const open = async (config: Config, genesis: Block, store: Store): Promise<Blockchain> => {
  const verifier = inlineVerifier(family);
  const ports = { scheme, store, verifier, clock: systemClock(), log: quiet };
  return (await openBlockchain(config, genesis, ports)).blockchain;
};

export async function madeChain({ nodes }: ProcessNetwork): Promise<MadeChain> {
  const { config } = await loadConfig(nodes[0]!.config);
  const genesis = genesisBlock(config);
  const blockchain = await open(config, genesis, createMemoryStore());
  const miners = nodes.map(({ owner }) => {
    const { publicKey, privateKey } = family.keyPairFromPhrase(owner.seed);
    const sign = (message: Uint8Array) => family.sign(privateKey, message, systemRandom);
    return { address: scheme.addressOf(publicKey), publicKey, sign };
  });
  function turn(): ReturnType<MadeChain['turn']> {
    const after = blockchain.tip().header.timestamp + 1;
    const turns = miners.flatMap((miner) => {
      const slot = blockchain.nextSlot(miner, after);
      return slot === undefined ? [] : [{ miner, from: slot.from }];
    });
    const [next] = turns.sort((a, b) => a.from - b.from);
    if (next === undefined) throw new Error('nobody has a turn');
    return next;
  }
  const produceBlock = (): Promise<Block> => {
    const { miner, from } = turn();
    return makeBlock(blockchain, miner, from, async () => {});
  };
  return { config, genesis, blockchain, miners, turn, produceBlock };
}

/** Puts blocks into the folders of nodes that have never run. */
export async function putBlocks(
  { config, genesis }: MadeChain,
  blocks: readonly Block[],
  configs: readonly string[],
): Promise<void> {
  const folders = configs.map((path) => join(dirname(path), 'data', 'chain'));
  mkdirSync(folders[0]!, { recursive: true });
  const store = await openLmdbStore({ folder: folders[0]!, tables });
  const blockchain = await open(config, genesis, store);
  await replayBlocks(blockchain, blocks, { from: 2 });
  await store.close();
  for (const folder of folders.slice(1)) cpSync(folders[0]!, folder, { recursive: true });
}
