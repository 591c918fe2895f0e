/**
 * Warns the operator of approved features that this node does not implement, and stops the node
 * when one becomes active (state.md#features). Without the stop, the node continues by its own
 * rules and may end up on a chain of its own.
 */
import type { Log } from '../../base/ports/log.ts';
import type { ChainRules } from '../../tx/rules/chain-rules.ts';
import { activeFeatures } from '../../tx/rules/features.ts';
import type { Blockchain } from '../blockchain.ts';
import {
  type FeatureSupport,
  unknownAhead,
  unknownFeatures,
  unknownText,
} from './feature-activation.ts';

/** A feature that this node does not implement is active: exit code 38. */
export class UnsupportedFeatures extends Error {
  override name = 'UnsupportedFeatures';
}

/**
 * Checks at once and after every block; returns a function that ends the checks. Throws
 * UnsupportedFeatures where the node must not start, and passes the same error to `stop` later.
 */
export function watchFeatures(
  blockchain: Blockchain,
  rules: ChainRules,
  support: FeatureSupport,
  log: Log,
  stop: (cause: UnsupportedFeatures) => void,
): () => void {
  const { view } = blockchain;
  let reported = '';

  function look(): UnsupportedFeatures | undefined {
    const next = blockchain.tip().height + 1;
    const active = unknownFeatures(activeFeatures(view, next, rules));
    const ahead = unknownAhead(view, next, rules);
    const news = `${active} ${[...ahead]}`;
    if (news === reported) return undefined;
    reported = news;
    for (const [feature, height] of ahead)
      log.warn('feature.unknown-approved', { feature, height });
    if (active.length === 0) return undefined;
    const why = unknownText(active);
    if (support.stopAtUnknown !== true) {
      log.warn('feature.unknown-active', { why });
      return undefined;
    }
    log.error('feature.unknown-active', { why });
    return new UnsupportedFeatures(why);
  }

  const atStart = look();
  if (atStart !== undefined) throw atStart;
  const onChange = (): void => {
    const cause = look();
    if (cause !== undefined) stop(cause);
  };
  return blockchain.listen({ block: onChange, rolledBack: onChange });
}
