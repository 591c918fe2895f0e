/** Consensus, roles and features for the API, from the committed head. */
import type { ActivationReads, ConsensusReads, PermissionReads } from '../../api/reads.ts';
import { assert } from '../../base/assert.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import {
  activationStatus,
  type FeatureSupport,
  type VotingSettings,
} from '../../chain/feature-activation.ts';
import { headerRowAt } from '../../chain/stored-blocks.ts';
import { decodeBanHistory, isBanned } from '../../consensus/ban-history.ts';
import { END_OF_TABLE, START_OF_TABLE } from '../../ledger/key-codecs.ts';
import { participantsInOrder } from '../../ledger/participants.ts';
import { currentMiners, rolesAt } from '../../ledger/permissions.ts';
import { roleName } from '../../ledger/roles.ts';
import { bans } from '../../ledger/tables.ts';
import type { ChainRules } from '../../tx/rules/chain-rules.ts';
import type { ConsensusConfig } from '../config/settings.ts';
import type { ChainState } from './chain-state.ts';

/** More miners than any network of this kind has. */
const MINERS_MAX = 100_000;

export function consensusReads(blockchain: Blockchain, config: ConsensusConfig): ConsensusReads {
  const { view } = blockchain;
  return {
    settings:
      config.type === 'pos'
        ? { kind: 'pos' }
        : {
            kind: 'poa',
            roundDuration: config.roundDuration.text,
            syncDuration: config.syncDuration.text,
            banDurationBlocks: config.banDurationBlocks,
            warningsForBan: config.warningsForBan,
            maxBansPercentage: config.maxBansPercentage,
          },
    miners: (timestamp) => currentMiners(view, timestamp),
    minersAtHeight(height) {
      const row = headerRowAt(view, height);
      assert(row !== undefined, `the route has checked height ${height}`);
      return currentMiners(view, row.header.timestamp);
    },
    bannedMiners(height) {
      const banned: Uint8Array[] = [];
      for (const [address, row] of view.range(bans, START_OF_TABLE, END_OF_TABLE, MINERS_MAX)) {
        const history = decodeBanHistory(row, view.scheme);
        if (isBanned(history, height, config.banDurationBlocks)) banned.push(address);
      }
      return banned;
    },
  };
}

export function permissionReads({ view }: ChainState): PermissionReads {
  return {
    roles: (address, timestamp) =>
      rolesAt(view, address, timestamp).map(({ role, due }) => {
        const name = roleName(role);
        assert(name !== undefined, `role ${role} has a name`);
        return { role: name, dueTimestamp: due };
      }),
    participants: () =>
      participantsInOrder(view).map(([address, { publicKey }]) => ({ address, publicKey })),
  };
}

export function activationReads(
  blockchain: Blockchain,
  settings: ChainRules & VotingSettings,
  support: FeatureSupport,
): ActivationReads {
  return {
    status: () => activationStatus(blockchain.view, blockchain.tip().height, settings, support),
  };
}
