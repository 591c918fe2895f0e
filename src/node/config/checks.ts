/**
 * What several settings say together (node.md#configuration, decision 46): errors, and warnings for
 * what is legal but seldom meant.
 */
import type { Problem } from './problems.ts';
import type { Config } from './settings.ts';

type Storage = Config['privacy']['storage'];
type StorageKey = 'url' | 'bucket' | 'accessKeyId' | 'secretAccessKey';

const STORAGE_NEEDS: Readonly<
  Record<Storage['vendor'], readonly (readonly [name: StorageKey, key: string])[]>
> = {
  none: [],
  file: [],
  postgres: [['url', 'url']],
  s3: [
    ['url', 'url'],
    ['bucket', 'bucket'],
    ['accessKeyId', 'access-key-id'],
    ['secretAccessKey', 'secret-access-key'],
  ],
};
const STORAGE_URLS: Readonly<
  Partial<Record<Storage['vendor'], { readonly pattern: RegExp; readonly example: string }>>
> = {
  postgres: {
    pattern: /^(jdbc:)?postgres(ql)?:\/\//,
    example: 'for example: postgres://db.example.org:5432/node',
  },
  s3: { pattern: /^https?:\/\/[^/]/, example: 'for example: https://s3.example.org' },
};

/** Rules over several settings. */
export function crossChecks(config: Config, file: string, warnings: string[]): Problem[] {
  const problems: Problem[] = [];
  const wrong = (key: string, value: string | undefined, expected: string, fix: string): void => {
    problems.push({ source: file, key, ...(value === undefined ? {} : { value }), expected, fix });
  };
  const { consensus, custom } = config.blockchain;
  const { functionality } = custom;
  if (consensus.type === 'poa' && config.ntp.fatalTimeout === undefined) {
    wrong(
      'ntp.fatal-timeout',
      undefined,
      'is missing, and PoA requires a working clock',
      'for example: ntp.fatal-timeout = 5m',
    );
  }
  if (functionality.blocksForFeatureActivation > functionality.featureCheckBlocksPeriod) {
    wrong(
      'blockchain.custom.functionality.blocks-for-feature-activation',
      String(functionality.blocksForFeatureActivation),
      `expected at most feature-check-blocks-period = ${functionality.featureCheckBlocksPeriod}`,
      'no feature could ever be activated',
    );
  }
  const broadcaster = config.synchronization.transactionBroadcaster;
  if (broadcaster.minBroadcastCount > broadcaster.maxBroadcastCount) {
    wrong(
      'synchronization.transaction-broadcaster.min-broadcast-count',
      String(broadcaster.minBroadcastCount),
      `expected at most max-broadcast-count = ${broadcaster.maxBroadcastCount}`,
      'lower the one or raise the other',
    );
  }
  const { cert, key } = config.restApi.tls;
  if ((cert === undefined) !== (key === undefined)) {
    const missing = cert === undefined ? 'cert' : 'key';
    wrong(`rest-api.tls.${missing}`, undefined, 'is missing', 'HTTPS needs both cert and key');
  }
  const { storage } = config.privacy;
  for (const [name, key] of STORAGE_NEEDS[storage.vendor]) {
    if (storage[name] === undefined) {
      wrong(`privacy.storage.${key}`, undefined, 'is missing', `vendor ${storage.vendor} needs it`);
    }
  }
  const form = STORAGE_URLS[storage.vendor];
  if (form !== undefined && storage.url !== undefined) {
    // The value is not shown: it may hold a password.
    if (!form.pattern.test(storage.url)) {
      wrong('privacy.storage.url', undefined, 'is not an address of this vendor', form.example);
    } else if (/@|password=/i.test(storage.url)) {
      const fix = 'a secret has a setting of its own, which is never shown';
      wrong('privacy.storage.url', undefined, 'expected an address without user and password', fix);
    }
  }
  if (!config.network.handshakeCheck && !isLoopback(config.network.bindAddress)) {
    wrong(
      'network.handshake-check',
      'no',
      'expected yes, since the peer listener is not on loopback',
      'set network.bind-address = "127.0.0.1" to switch identity checking off',
    );
  }
  if (!config.network.handshakeCheck) {
    warnings.push(`${file}: network.handshake-check = no: peers are not asked who they are`);
  }
  const hash = config.restApi.apiKeyHash;
  if (hash !== undefined && hash === config.restApi.privacyApiKeyHash) {
    warnings.push(
      `${file}: rest-api.privacy-api-key-hash should differ from rest-api.api-key-hash`,
    );
  }
  if (config.restApi.enable && cert === undefined && !isLoopback(config.restApi.bindAddress)) {
    warnings.push(
      `${file}: rest-api is plain HTTP beyond loopback: set rest-api.tls.cert and .key`,
    );
  }
  const workingMs = consensus.type === 'poa' ? consensus.roundDuration.ms : undefined;
  const contracts = config.dockerEngine;
  if (contracts.enable && contracts.executionLimits.timeout.ms >= (workingMs ?? Infinity)) {
    wrong(
      'docker-engine.execution-limits.timeout',
      contracts.executionLimits.timeout.text,
      'expected less than blockchain.consensus.round-duration',
      'a call must end within a round',
    );
  }
  return problems;
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.');
