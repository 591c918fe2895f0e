/** The settings that transaction rules depend on, in the form of ChainRules. */
import type { ChainRules } from '../../tx/rules/chain-rules.ts';
import type { TxType } from '../../tx/transaction.ts';
import { camel } from './setting.ts';
import type { Config } from './settings.ts';

/** `types`: all transaction types; their `key` is the name of their fee in the configuration. */
export function chainRules(config: Config, types: readonly TxType[]): ChainRules {
  const { custom, fees } = config.blockchain;
  const byType = (section: Readonly<Record<string, bigint>>): ReadonlyMap<number, bigint> =>
    new Map(
      types.flatMap(({ key, type }) => {
        const fee = section[camel(key)];
        return fee === undefined ? [] : [[type, fee] as const];
      }),
    );
  return {
    nativeToken: config.nativeTicker,
    fees: {
      enabled: fees.enabled,
      base: byType(fees.base),
      additional: byType(fees.additional),
      scriptExtra: fees.scriptExtra,
    },
    txExpireTimeoutMs: config.utx.txExpireTimeout.ms,
    preActivatedFeatures: custom.functionality.preActivatedFeatures,
    featureCheckBlocks: custom.functionality.featureCheckBlocksPeriod,
    senderRoleEnabled: custom.genesis.senderRoleEnabled,
    exchangeEnabled: custom.functionality.exchangeEnabled,
  };
}
