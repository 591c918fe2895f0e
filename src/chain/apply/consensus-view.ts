/** The ledger's answers to what consensus reads at a parent (consensus.ts). */
import { assert } from '../../base/assert.ts';
import { equal } from '../../base/bytes.ts';
import { type BanHistory, decodeBanHistory } from '../../consensus/ban-history.ts';
import type { ConsensusView } from '../../consensus/consensus.ts';
import { generatingBalance } from '../../ledger/balance-history.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { minerQueue } from '../../ledger/miner-queue.ts';
import { hasRole } from '../../ledger/permissions.ts';
import { BANNED, MINER } from '../../ledger/roles.ts';
import {
  bans,
  blocksByGenerator,
  features,
  roleHistory,
  roleHolders,
  roles,
  rollSizes,
  vitalHolders,
} from '../../ledger/tables.ts';
import { headerRowAt } from '../store/stored-blocks.ts';

/** Blocks that are applied but not committed yet, by height: a batch of imported blocks. */
export type Uncommitted = ReadonlyMap<
  number,
  { readonly generator: Uint8Array } & ReturnType<ConsensusView['headerAt']>
>;

/**
 * The tables that must be rolled back to answer for a lower height. Headers and balances need no
 * rollback, because their keys contain the height.
 */
export const CONSENSUS_TABLES: ReadonlySet<number> = new Set(
  [bans, features, roleHistory, roleHolders, roles, rollSizes, vitalHolders].map(({ id }) => id),
);

export function consensusView(
  view: LedgerView,
  uncommitted: Uncommitted = new Map(),
): ConsensusView {
  const { scheme } = view;

  const header = (height: number) => {
    const pending = uncommitted.get(height);
    if (pending !== undefined) return pending;
    const row = headerRowAt(view, height);
    assert(row !== undefined, `the header of height ${height} is stored`);
    return row.header;
  };

  function lastStoredBlockBy(address: Uint8Array, height: number): number | undefined {
    const { key } = blocksByGenerator;
    const from = key.encode([address, 0]);
    const to = key.encode([address, height + 1]);
    for (const [[, at]] of view.range(blocksByGenerator, from, to, 1, true)) return at;
    return undefined;
  }

  return {
    minersAt: (timestamp) => minerQueue(view, timestamp),
    isMiner: (address, timestamp) =>
      hasRole(view, address, MINER, timestamp) && !hasRole(view, address, BANNED, timestamp),
    banHistory(address): BanHistory | undefined {
      const row = view.get(bans, address);
      return row && decodeBanHistory(row, scheme);
    },
    approvedAt: (id) => view.get(features, id)?.approvedAt,
    generatorAt: (height) => scheme.addressOf(header(height).generator),
    lastBlockBy(address, height) {
      for (let at = height; uncommitted.has(at); at--) {
        if (equal(scheme.addressOf(header(at).generator), address)) return at;
      }
      return lastStoredBlockBy(address, height);
    },
    headerAt: header,
    generatingBalance: (address, height) => generatingBalance(view, address, height),
  };
}
