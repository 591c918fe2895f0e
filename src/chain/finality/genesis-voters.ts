/** The sets that a genesis block leaves, from its bytes alone: where an offline proof begins (finality.md#proofs). */
import { equal, latin1 } from '../../base/bytes.ts';
import type { Block } from '../../block/block.ts';
import { headerHash } from '../../block/header.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { TrustedCheckpoint } from '../../finality/proofs/offline-proof.ts';
import { entitledVoters, voterSetsOfRoot } from '../../finality/votes/entitled-voters.ts';
import { decidingOn } from '../../finality/votes/voter-set.ts';
import { decodeStoredTx } from '../../tx/tx-bytes.ts';
import { genesisPermit } from '../../tx/types/101-genesis-permit.ts';
import { minersOf } from './finality-rules.ts';

/** Undefined where the block entitles nobody. */
export function trustedGenesis(genesis: Block, scheme: ChainScheme): TrustedCheckpoint | undefined {
  const { header, transactions } = genesis;
  const txs = transactions.map((bytes) => decodeStoredTx(bytes, scheme));
  const keys = minersOf(txs, scheme);
  const permits = txs.filter(({ def }) => def.type === genesisPermit.type);
  const holders = (role: string): Uint8Array[] =>
    permits
      .filter(({ fields }) => fields['role'] === role)
      .map(({ fields }) => fields['target'] as Uint8Array);
  const banned = holders('banned');
  const since = header.timestamp;
  const entitled = entitledVoters(
    {
      miners: () => holders('miner').map((address) => ({ address, since })),
      isBanned: (address) => banned.some((one) => equal(one, address)),
      hasScript: () => false,
      givenKey: (address) => keys.get(latin1(address)),
      lastBlock: () => undefined,
    },
    since,
    scheme,
  );
  const sets = voterSetsOfRoot(entitled);
  if (sets === undefined) return undefined;
  const { ruleHash } = decidingOn(sets, scheme);
  return { genesis: headerHash(header, scheme), height: 1, ruleHash };
}
