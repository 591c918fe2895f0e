/** What a watcher does not do. */
import { apiError } from '../base/errors.ts';

/** A watcher has no part in spreading transactions: it signs and takes none (network.md#gossip-of-blocks). */
export function refuseAsWatcher(): never {
  throw apiError('NotAvailable', 'Sending transactions, since it is a watcher,');
}
