/** What the configuration says of the finality of a node. */
import type { Config } from '../config/settings.ts';
import { notePath } from './voter-note.ts';

export interface FinalityOptionsOfNode {
  readonly isPoa: boolean;
  readonly maxRollback: number;
  readonly roundMs: number;
  /** Path of the note. */
  readonly notePath: string;
  readonly votes: boolean;
  /** `miner.wait-for-votes`. */
  readonly waits: boolean;
}

export function finalityOptions(config: Config): FinalityOptionsOfNode {
  const { consensus } = config.blockchain;
  const { miner, network, synchronization } = config;
  return {
    isPoa: consensus.type === 'poa',
    maxRollback: synchronization.maxRollback,
    roundMs: consensus.roundDuration.ms + consensus.syncDuration.ms,
    notePath: notePath(config),
    votes: miner.enable && network.mode !== 'watcher',
    waits: miner.waitForVotes,
  };
}
