/** Whether a stored chain has the record of its voters from the root on (finality.md#blocks). */
import { StartError } from '../../base/faults/start-error.ts';
import { type ActivationRules, feature } from '../../tx/rules/features.ts';
import type { Blockchain } from '../blockchain.ts';
import { hasRoot, rootHeight } from './finality-state.ts';

/** Without it this node would refuse each block of its neighbours, and blame them. Throws StartError. */
export function requireRoot(blockchain: Blockchain, rules: ActivationRules): void {
  const { height } = blockchain.tip();
  const root = rootHeight(blockchain.view, rules);
  if (root === undefined || root > height || hasRoot(blockchain.view, height)) return;
  throw new StartError(
    'finality',
    'node.data-directory',
    `feature ${feature.finality} was approved at height ${root} while another release ran here, which did not record the voters`,
    'make the data directory anew: move it away and let the node take the chain from its peers',
  );
}
