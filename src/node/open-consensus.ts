/** The consensus that a configuration names. */
import type { ChainScheme } from '../codec/codec.ts';
import type { Consensus } from '../consensus/consensus.ts';
import { createPoa } from '../consensus/poa.ts';
import { createPos } from '../consensus/pos.ts';
import { issuedAtGenesis } from './config/genesis-section.ts';
import type { Config } from './config/settings.ts';

export function consensusOf(
  config: Config,
  genesisTimestamp: number,
  scheme: ChainScheme,
): Consensus {
  const { consensus, custom } = config.blockchain;
  if (consensus.type === 'pos') {
    const averageDelaySeconds = Math.floor(custom.genesis.averageBlockDelay.ms / 1000);
    const initialBalance = issuedAtGenesis(custom.genesis);
    return createPos({ initialBalance, averageDelaySeconds }, scheme);
  }
  return createPoa(
    {
      genesisTimestamp,
      roundDurationMs: consensus.roundDuration.ms,
      syncDurationMs: consensus.syncDuration.ms,
      banDurationBlocks: consensus.banDurationBlocks,
      warningsForBan: consensus.warningsForBan,
      maxBansPercentage: consensus.maxBansPercentage,
      preActivatedFeatures: custom.functionality.preActivatedFeatures,
      featureCheckBlocks: custom.functionality.featureCheckBlocksPeriod,
    },
    scheme,
  );
}
