/**
 * Checks of several settings together (node.md#configuration, decision 46: spellings of the
 * configuration).
 */
import { isLoopback } from '../../network/messages/peer-address.ts';
import { feature } from '../../tx/rules/features.ts';
import { type Problem, problemsOf, type Report, type SourceOf } from './problems.ts';
import type { Config } from './settings.ts';
import { warningsOf } from './warnings.ts';

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
export function crossChecks(
  config: Config,
  { file, given }: { readonly file: string; readonly given: SourceOf },
  warnings: string[],
): Problem[] {
  warnings.push(...warningsOf(config).map((text) => `${file}: ${text}`));
  return problemsOf(given, '', (wrong) => {
    checkChain(config, wrong);
    checkNetwork(config, wrong);
    checkTls(config, wrong);
    checkSigner(config, wrong);
    checkNamedKeys(config, wrong);
    checkRollback(config, wrong);
    checkFinality(config, wrong);
    checkStorage(config.privacy.storage, wrong);
    checkContracts(config, wrong);
  });
}

function checkChain({ blockchain: { consensus, custom }, ntp }: Config, wrong: Report): void {
  if (consensus.type === 'poa' && ntp.fatalTimeout === undefined) {
    wrong(
      'ntp.fatal-timeout',
      undefined,
      'is missing, and PoA requires a working clock',
      'for example: ntp.fatal-timeout = 5m',
    );
  }
  const { blocksForFeatureActivation: votes, featureCheckBlocksPeriod } = custom.functionality;
  if (votes > featureCheckBlocksPeriod) {
    wrong(
      'blockchain.custom.functionality.blocks-for-feature-activation',
      String(votes),
      `expected at most feature-check-blocks-period = ${featureCheckBlocksPeriod}`,
      'no feature could ever be activated',
    );
  }
}

function checkNetwork({ synchronization, network }: Config, wrong: Report): void {
  const { minBroadcastCount, maxBroadcastCount } = synchronization.transactionBroadcaster;
  if (minBroadcastCount > maxBroadcastCount) {
    wrong(
      'synchronization.transaction-broadcaster.min-broadcast-count',
      String(minBroadcastCount),
      `expected at most max-broadcast-count = ${maxBroadcastCount}`,
      'lower the one or raise the other',
    );
  }
  if (!network.handshakeCheck && !isLoopback(network.bindAddress)) {
    wrong(
      'network.handshake-check',
      'no',
      'expected yes, since the peer listener is not on loopback',
      'set network.bind-address = "127.0.0.1" to switch identity checking off',
    );
  }
}

/** A branch replaces blocks by their undo records. */
function checkRollback({ synchronization, storage }: Config, wrong: Report): void {
  if (storage.maxRollbackDepth >= synchronization.maxRollback) return;
  wrong(
    'storage.max-rollback-depth',
    String(storage.maxRollbackDepth),
    `expected at least synchronization.max-rollback = ${synchronization.maxRollback}`,
    'without the undo records of a block no reorganisation can take it back',
  );
}

/** A root above which two branches may still win is two roots (finality.md#votes). */
function checkFinality({ blockchain, features, synchronization }: Config, wrong: Report): void {
  const { preActivatedFeatures, featureCheckBlocksPeriod } = blockchain.custom.functionality;
  const isVotedFor = features.supported.includes(feature.finality);
  const isPoa = blockchain.consensus.type === 'poa';
  if (!isPoa || !isVotedFor || preActivatedFeatures.has(feature.finality)) return;
  if (featureCheckBlocksPeriod >= 2 * synchronization.maxRollback) return;
  wrong(
    'synchronization.max-rollback',
    String(synchronization.maxRollback),
    `expected at most half of blockchain.custom.functionality.feature-check-blocks-period = ${featureCheckBlocksPeriod}, since ` +
      `features.supported names ${feature.finality}`,
    `set it to at most ${Math.floor(featureCheckBlocksPeriod / 2)} on all nodes, or take ${feature.finality} out of features.supported`,
  );
}

function checkTls({ restApi: { tls } }: Config, wrong: Report): void {
  const { cert, key, clientCa } = tls;
  if (cert === undefined && key === undefined && clientCa !== undefined) {
    const fix = 'clients show certificates over HTTPS only';
    wrong('rest-api.tls.client-ca', clientCa, 'expected tls.cert and tls.key beside it', fix);
  }
  if ((cert === undefined) === (key === undefined)) return;
  const missing = cert === undefined ? 'cert' : 'key';
  wrong(`rest-api.tls.${missing}`, undefined, 'is missing', 'HTTPS needs both cert and key');
}

/** Only who shows a certificate may use the keys from another machine. */
function checkSigner({ signer: { socket, host, tls } }: Config, wrong: Report): void {
  if (host === undefined) return;
  if (socket !== undefined) {
    wrong('signer.socket', socket, 'expected either socket or host', 'leave one of them out');
  }
  for (const name of ['cert', 'key', 'ca'] as const) {
    if (tls[name] !== undefined) continue;
    wrong(`signer.tls.${name}`, undefined, 'is missing', 'signer.host needs cert, key and ca');
  }
}

/** The hash of a key without a name opens what that key opens, whatever the scopes say. */
function checkNamedKeys({ restApi }: Config, wrong: Report): void {
  const { apiKeyHash, privacyApiKeyHash, apiKeys } = restApi;
  const whole = [apiKeyHash, privacyApiKeyHash].filter((hash) => hash !== undefined);
  for (const { name, hash } of apiKeys) {
    if (!whole.includes(hash)) continue;
    const expected = 'expected another hash than api-key-hash and privacy-api-key-hash';
    wrong('rest-api.api-keys', name, expected, 'make a key: platform-node api-key generate');
  }
}

function checkStorage(storage: Storage, wrong: Report): void {
  for (const [name, key] of STORAGE_NEEDS[storage.vendor]) {
    if (storage[name] === undefined) {
      wrong(`privacy.storage.${key}`, undefined, 'is missing', `vendor ${storage.vendor} needs it`);
    }
  }
  const form = STORAGE_URLS[storage.vendor];
  if (form === undefined || storage.url === undefined) return;
  // The value is not shown, because it may contain a password.
  if (!form.pattern.test(storage.url)) {
    wrong('privacy.storage.url', undefined, 'is not an address of this vendor', form.example);
  } else if (/@|password=/i.test(storage.url)) {
    const fix = 'a secret has a setting of its own, which is never shown';
    wrong('privacy.storage.url', undefined, 'expected an address without user and password', fix);
  }
}

function checkContracts(
  { blockchain: { consensus, custom }, dockerEngine }: Config,
  wrong: Report,
): void {
  const { timeout } = dockerEngine.executionLimits;
  if (!dockerEngine.enable) return;
  const isPoa = consensus.type === 'poa';
  const most = isPoa ? consensus.roundDuration : custom.genesis.averageBlockDelay;
  const { contractAuthExpiresIn: token } = dockerEngine;
  if (token.ms < timeout.ms) {
    wrong(
      'docker-engine.contract-auth-expires-in',
      token.text,
      `expected at least execution-limits.timeout = ${timeout.text}`,
      'a call may read the state until its time is over',
    );
  }
  if (timeout.ms < most.ms) return;
  const name = isPoa ? 'consensus.round-duration' : 'custom.genesis.average-block-delay';
  wrong(
    'docker-engine.execution-limits.timeout',
    timeout.text,
    `expected less than blockchain.${name}`,
    'a call must end within a round',
  );
}
