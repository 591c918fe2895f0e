/** The actions that a watcher refuses. */
import { apiError } from '../base/errors.ts';

/**
 * A watcher takes no part in spreading transactions: it neither signs nor accepts any
 * (network.md#gossip-of-blocks).
 */
export function refuseAsWatcher(): never {
  throw apiError('NotAvailable', 'Sending transactions, since it is a watcher,');
}
