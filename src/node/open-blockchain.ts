import { type Block, blockId } from '../block/block.ts';
import { Blockchain, type BlockchainPorts } from '../chain/blockchain.ts';
import type { FeatureSupport, VotingSettings } from '../chain/features/feature-activation.ts';
import { createLostBlocks, type LostBlocks } from '../chain/fork/lost-blocks.ts';
import { requireSameNetwork, requireSameSettings } from '../chain/store/network-identity.ts';
import type { Consensus } from '../consensus/consensus.ts';
import { prepareKeccak256 } from '../crypto/keccak.ts';
import { allTypes } from '../tx/registry.ts';
import type { ChainRules } from '../tx/rules/chain-rules.ts';
import { chainRules } from './config/configured-rules.ts';
import { sharedSettings } from './config/genesis-section.ts';
import type { Config } from './config/settings.ts';
import { voterOverrides } from './config/voter-overrides.ts';
import { consensusOf } from './open-consensus.ts';

export interface OpenedChain {
  readonly blockchain: Blockchain;
  readonly consensus: Consensus;
  readonly rules: ChainRules & VotingSettings;
  readonly support: FeatureSupport;
  readonly lostBlocks: LostBlocks;
}

/**
 * Founds the chain in an empty store. Throws ApiError where the store belongs to another network or
 * was made under other settings of the network, and then does not change it.
 */
export async function openBlockchain(
  config: Config,
  genesis: Block,
  ports: BlockchainPorts,
): Promise<OpenedChain> {
  // The national family has no other use for it: it would be made within the first script that calls it.
  prepareKeccak256();
  const { functionality } = config.blockchain.custom;
  const rules = {
    ...chainRules(config, allTypes),
    voterOverrides: voterOverrides(config, ports.scheme),
    featureApprovalVotes: functionality.blocksForFeatureActivation,
  };
  const support = {
    autoSupport: config.features.autoSupportImplementedFeatures,
    supported: config.features.supported,
    stopAtUnknown: config.features.autoShutdownOnUnsupportedFeature,
  };
  const consensus = consensusOf(config, genesis.header.timestamp, ports.scheme);
  const blockchain = new Blockchain(
    {
      rules,
      support,
      consensus,
      transactionBytesMax: config.miner.maxBlockSizeInBytes,
      undoDepth: config.storage.maxRollbackDepth,
    },
    ports,
  );
  if (blockchain.isEmpty()) await blockchain.found(genesis);
  else requireSameNetwork(blockchain.view, blockId(genesis));
  await requireSameSettings(blockchain.view, sharedSettings(config), ports.store);
  const lostBlocks = createLostBlocks({ ...ports, blockchain, consensus });
  return { blockchain, consensus, rules, support, lostBlocks };
}
