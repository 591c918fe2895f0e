/** What a change of the chain tells the servers of the store, after its commit. */
import type { Queries } from '../../base/ports/database.ts';

export const CHAIN_CHANNEL = 'chain';

/** Part of the transaction that changes the chain. */
export async function notifyOfChain(queries: Queries, height: number): Promise<void> {
  await queries.query('SELECT pg_notify($1, $2)', [CHAIN_CHANNEL, String(height)]);
}
