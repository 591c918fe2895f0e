/**
 * Confidential data of policies on a configured node: their storage, and the exchange with other
 * nodes.
 */

import type { SigningAccount } from '../base/signer/signing.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import type { Pool } from '../mempool/pool.ts';
import type { SessionRegistry } from '../network/sessions/session-registry.ts';
import { createPrivacy, type Privacy } from '../privacy/privacy-service.ts';
import type { QuotaLimit } from '../privacy/storage/quota.ts';
import type { Tx } from '../tx/transaction.ts';
import type { Config } from './config/settings.ts';
import type { NodePorts } from './node-ports.ts';

export interface PrivacyPortsOfNode
  extends Pick<
    NodePorts,
    | 'privateStore'
    | 'scheme'
    | 'family'
    | 'store'
    | 'verifier'
    | 'clock'
    | 'random'
    | 'log'
    | 'keystore'
  > {
  readonly blockchain: Blockchain;
  readonly pool: Pick<
    Pool,
    'check' | 'submit' | 'get' | 'decode' | 'inOrder' | 'listen' | 'settled'
  >;
  readonly feeOf: (tx: Tx) => bigint;
  /** Undefined for a node without peers. */
  readonly sessions: SessionRegistry | undefined;
  readonly onNoRoom: (limit: QuotaLimit) => void;
  readonly owner: Pick<SigningAccount, 'address' | 'sign'>;
}

/** Undefined where the configuration names no storage. The network must start after it. */
export function openPrivacy(
  { privacy, network }: Config,
  ports: PrivacyPortsOfNode,
): Privacy | undefined {
  const { privateStore, scheme, blockchain } = ports;
  if (privateStore === undefined) return undefined;
  const { synchronizer, replier, storage } = privacy;
  const { acceptedCreators: listed } = storage;
  const creators = listed.length === 0 ? [] : [...listed, privacy.ownerAddress];
  return createPrivacy(
    {
      replyParallelism: replier.parallelism,
      fetchParallelism: synchronizer.crawlingParallelism,
      transferMs: synchronizer.requestTimeout.ms,
      attemptsMax: synchronizer.maxAttemptCount,
      firstDelayMs: synchronizer.initRetryDelay.ms,
      lostEveryMs: synchronizer.lostDataProcessingDelay.ms,
      announcementMs: synchronizer.inventoryRequestDelay.ms,
      newsMs: synchronizer.inventoryTimestampThreshold.ms,
      failedMax: synchronizer.failedPeersCacheSize,
      failedMs: synchronizer.failedPeersCacheExpireTimeout.ms,
      quota: {
        policyBytesMax: storage.policyQuota,
        accountBytesMax: storage.accountQuota,
        acceptedCreators: creators.map((one) => scheme.addressFromText(one)),
        totalBytesMax: storage.quota,
        freeBytesMin: storage.freeSpaceMin,
      },
    },
    {
      ...ports,
      store: privateStore,
      rows: ports.store,
      view: blockchain.view,
      ownerAddress: scheme.addressFromText(privacy.ownerAddress),
      // A watcher exchanges no private data (network.md#gossip-of-blocks).
      peers: network.mode === 'watcher' ? undefined : ports.sessions,
    },
  );
}
