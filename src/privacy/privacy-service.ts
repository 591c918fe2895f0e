/**
 * Confidential data between the members of a policy (privacy.md): requests of clients, and the
 * exchange with other nodes.
 *
 * The chain and clients determine which items are wanted. `queue` decides when to fetch an item,
 * `sources` from which peer; `receiveItem` fetches it. `serveItems` serves other nodes. Only the
 * store keeps data.
 */
import { limitsOf } from '../base/budget.ts';
import type { Log, Store } from '../base/ports.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { findTransaction } from '../chain/store/stored-blocks.ts';
import { boundHash, isMember, RECIPIENT } from '../ledger/policies.ts';
import { createSendData, type SendData, type SendPorts } from './accept-item.ts';
import { type Access, answering, createAccess } from './client-access.ts';
import { createSearch } from './deleted-items.ts';
import { createBacklog } from './fetch-backlog.ts';
import { createFetch } from './fetch-item.ts';
import { FetchQueue, type QueueSizes } from './fetch-queue.ts';
import { type Follow, followChain } from './follow-chain.ts';
import { type ItemId, namesOf } from './item-id.ts';
import { createSources } from './item-sources.ts';
import type { Peers } from './peer-ports.ts';
import { itemsBudget } from './privacy-budgets.ts';
import { decodeItems, encodeItems, ITEMS } from './privacy-messages.ts';
import { createQuota, type Quota, type QuotaLimit, type QuotaOptions } from './quota.ts';
import { serveItems } from './serve-items.ts';
import type { TransferPorts } from './session-key.ts';

export interface PrivacyOptions {
  /** The most transfers served at a time. */
  readonly replyParallelism: number;
  /** The most transfers fetched at a time. */
  readonly fetchParallelism: number;
  /** Time limit of one transfer. */
  readonly transferMs: number;
  readonly attemptsMax: number;
  readonly firstDelayMs: number;
  readonly lostEveryMs: number;
  /** The time to wait for announcements before members are asked in random order. */
  readonly announcementMs: number;
  /** Data bound longer ago are not announced. */
  readonly newsMs: number;
  readonly failedMax: number;
  readonly failedMs: number;
  readonly quota: QuotaOptions;
}

export interface PrivacyPorts extends TransferPorts, Omit<SendPorts, 'onSent'> {
  readonly blockchain: Blockchain;
  /** The store of the node's own rows. */
  readonly rows: Store;
  readonly log: Log;
  /** Undefined: the node takes no part in the exchange. */
  readonly peers: Peers | undefined;
  readonly onNoRoom?: (limit: QuotaLimit) => void;
}

export interface Privacy extends Access {
  readonly send: SendData;
  /** Bytes of confidential data accepted. */
  bytes(): number;
  /** Items that wait to be fetched, by kind, and running transfers. */
  queue(): QueueSizes;
  /** Begins to fetch. */
  start(): Promise<void>;
  /** Resolves when nothing is being fetched or stored. The network must be closed before. */
  stop(): Promise<void>;
}

/** Registers its protocols here, so the network must start after it. */
export function createPrivacy(options: PrivacyOptions, ports: PrivacyPorts): Privacy {
  const { peers, view, ownerAddress, scheme } = ports;
  const quota = createQuota(options.quota, {
    ...ports,
    creatorOf: (policyId) => findTransaction(view, policyId)?.tx.sender,
    onRefused: ports.onNoRoom ?? (() => {}),
  });
  const search = createSearch(quota.forgetDeleted, ports.clock);
  const { store } = quota;
  const exchange =
    peers === undefined ? undefined : createExchange(options, { ...ports, store, peers, quota });
  const access = createAccess({ scheme, view, store, ownerAddress, exchange });
  const send = createSendData({ ...ports, store, onSent: (item) => exchange?.announce(item) });
  return {
    ...access,
    bytes: quota.bytes,
    queue: () => exchange?.queue.sizes() ?? { new: 0, pending: 0, lost: 0, transfers: 0 },
    send: (request, broadcast) => answering(() => send(request, broadcast)),
    async start() {
      search.start();
      await exchange?.start();
    },
    async stop() {
      await search.stop();
      await exchange?.stop();
      await store.stop();
    },
  };
}

interface ExchangeService {
  readonly follow: Follow;
  readonly queue: FetchQueue;
  announce(item: ItemId): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

function createExchange(
  options: PrivacyOptions,
  ports: PrivacyPorts & { readonly peers: Peers; readonly quota: Quota },
): ExchangeService {
  const { peers, view, scheme, clock, owner, log } = ports;
  const backlog = createBacklog({ ...ports, store: ports.rows });
  const sources = createSources(options, ports);
  const fetch = createFetch(options.transferMs, {
    ...ports,
    sources,
    onStored,
    found: ports.quota.found,
    // The storage logs its own failures.
    refusal: (item) => ports.quota.refusal(item).catch(() => 'unknown' as const),
  });
  const queue = new FetchQueue(
    { ...options, parallelism: options.fetchParallelism },
    { ...ports, backlog, fetch, onLost: (item) => log.warn('privacy.lost', namesOf(item)) },
  );
  const follow = followChain({
    ...ports,
    backlog,
    ownAddress: owner.address,
    onNew: (item) => queue.add(item, sources.isAnnounced(item) ? 0 : options.announcementMs),
    onMissed: (item) => queue.add(item, 0),
    onGone: (item) => queue.drop(item),
  });
  serveItems({ parallelism: options.replyParallelism, timeoutMs: options.transferMs }, ports);

  const isRecipient = ({ policyId }: ItemId, address: Uint8Array): boolean =>
    isMember(view, policyId, RECIPIENT, address);

  peers.handleNotices(ITEMS, {
    ...limitsOf(itemsBudget),
    take({ owner: holder }, message) {
      const announced = decodeItems(message, scheme).filter(
        (item) => isRecipient(item, holder) && isRecipient(item, owner.address),
      );
      for (const item of announced) {
        sources.announced(item, holder);
        queue.retryNow(item);
      }
    },
  });

  peers.onOpen(({ owner: back }) => {
    sources.clearFailure(back);
    queue.retryAllNow((item) => isRecipient(item, back));
  });

  function announce(item: ItemId): void {
    const message = encodeItems([item], scheme);
    for (const peer of peers.all()) {
      if (isRecipient(item, peer.owner)) peer.notify(ITEMS, message);
    }
  }

  function onStored(item: ItemId): void {
    const bound = boundHash(view, item.policyId, item.hash);
    const found = bound && findTransaction(view, bound.transaction);
    if (found !== undefined && clock.now() - found.tx.timestamp < options.newsMs) announce(item);
  }

  return {
    follow,
    queue,
    announce,
    async start() {
      await follow.catchUp();
      await queue.start();
    },
    async stop() {
      await follow.stop();
      await queue.stop();
      await backlog.stop();
    },
  };
}
