/** What GET /node/* tells of this node. */
import type { NodeInfo } from '../../api/services.ts';
import type { Store } from '../../base/ports.ts';
import type { CryptoFamily } from '../../crypto/family.ts';
import { allTypes } from '../../tx/registry.ts';
import type { ChainRules } from '../../tx/rules/chain-rules.ts';
import type { Config } from '../config/settings.ts';

export function nodeInfo(
  config: Config,
  rules: ChainRules,
  keys: Pick<NodeInfo, 'owner' | 'identity'>,
  node: {
    readonly family: Pick<CryptoFamily, 'platformCrypto'>;
    readonly version: string;
    readonly requestStop: () => void;
    readonly store: Pick<Store, 'problem'>;
  },
): NodeInfo {
  const { consensus, custom } = config.blockchain;
  const { enabled, base, additional } = rules.fees;
  const fee = (fees: ReadonlyMap<number, bigint>, type: number): bigint =>
    enabled ? (fees.get(type) ?? 0n) : 0n;
  return {
    version: node.version,
    platformCrypto: node.family.platformCrypto,
    nativeToken: config.nativeTicker,
    minimumFee: Object.fromEntries(allTypes.map(({ type }) => [type, fee(base, type)])),
    additionalFee: Object.fromEntries(
      [...additional.keys()].map((type) => [type, fee(additional, type)]),
    ),
    blockTiming:
      consensus.type === 'pos'
        ? { averageBlockDelay: custom.genesis.averageBlockDelay.ms }
        : {
            roundDuration: consensus.roundDuration.ms,
            syncDuration: consensus.syncDuration.ms,
          },
    ...keys,
    problem: () => node.store.problem?.(),
    stop: () => node.requestStop(),
  };
}
