/** A pool on a test chain, with a journal in memory. */
import type { Journal } from '../../src/base/ports/journal.ts';
import { Trial } from '../../src/mempool/admission/trial.ts';
import { createPool, type Pool, type PoolOptions, type PoolPorts } from '../../src/mempool/pool.ts';
import { quiet, rules, scheme, type TestChain, verifier } from '../chain/chain-harness.ts';

export const HOUR_MS = 3_600_000;

/** A journal in memory that can be made to fail. */
export function memoryJournal(recovered: readonly Uint8Array[] = []) {
  const journal = {
    recovered,
    records: [...recovered],
    broken: false,
    async append(record: Uint8Array) {
      if (journal.broken) throw new Error('no space left on device');
      journal.records.push(record.slice());
    },
    async rewrite(records: Iterable<Uint8Array>) {
      journal.records = Array.from(records, (record) => record.slice());
    },
    close: async () => undefined,
  };
  return journal satisfies Journal;
}

/** A pool hears of blocks that are added and taken back, as in a node. */
export function hearBlocks({ blockchain }: Pick<TestChain, 'blockchain'>, pool: () => Pool): void {
  blockchain.listen({
    block: ({ block }) => pool().removeMined(block.txs),
    rollingBack: (txs) => pool().keep(txs),
    rolledBack: (_tip, txs) => void pool().readmit(txs),
  });
}

/** A pool that does not hear of blocks. */
export function createTestPool(
  { blockchain, clock }: Pick<TestChain, 'blockchain' | 'clock'>,
  ports: Partial<PoolPorts> = {},
  options: Partial<PoolOptions> = {},
): Pool {
  return createPool(
    {
      bytesMax: 1_000_000,
      senderEntriesMax: 100,
      expireMs: 2 * HOUR_MS,
      cleanupMs: HOUR_MS,
      nativeToken: 'WEST',
      ...options,
    },
    {
      scheme,
      state: new Trial(blockchain, rules, clock),
      verifier,
      journal: memoryJournal(),
      clock,
      log: quiet,
      ...ports,
    },
  );
}
