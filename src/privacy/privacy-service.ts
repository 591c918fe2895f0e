/**
 * Confidential data between the members of a policy (privacy.md): requests of clients, and the
 * exchange with other nodes.
 *
 * The chain and clients determine which items are wanted. `queue` decides when to fetch an item,
 * `sources` from which peer; `receiveItem` fetches it. `ItemServer` serves other nodes. Only the
 * store keeps data.
 */
import { limitsOf } from '../base/limits/budget.ts';
import type { Log } from '../base/ports/log.ts';
import type { Store } from '../base/ports/store.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { findTransaction } from '../chain/store/stored-blocks.ts';
import { boundHash, isMember, RECIPIENT } from '../ledger/policies.ts';
import { type Access, answering, createAccess } from './client-access.ts';
import { Backlog } from './fetching/fetch-backlog.ts';
import { createFetch } from './fetching/fetch-item.ts';
import { FetchQueue } from './fetching/fetch-queue.ts';
import type { QueueSizes } from './fetching/fetch-queue-ports.ts';
import { ChainFollower } from './fetching/follow-chain.ts';
import { askedAtOnce, Sources } from './fetching/item-sources.ts';
import { type ItemId, namesOf } from './protocol/item-id.ts';
import type { Peers } from './protocol/peer-ports.ts';
import { decodeItems, encodeItems, ITEMS } from './protocol/privacy-messages.ts';
import type { TransferPorts } from './protocol/session-key.ts';
import { createSendData, type SendData, type SendPorts } from './sending/accept-item.ts';
import { dataBudget, itemsBudget } from './serving/privacy-budgets.ts';
import { ItemServer } from './serving/serve-items.ts';
import type { Arrivals } from './storage/arrivals.ts';
import { createSearch, Quota, type QuotaLimit, type QuotaOptions } from './storage/quota.ts';

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

interface ExchangeDeps extends PrivacyPorts {
  readonly peers: Peers;
  readonly quota: Quota;
}

export interface Privacy extends Access {
  readonly send: SendData;
  /** Bytes of confidential data accepted. */
  bytes(): number;
  /** The order in which they came. */
  readonly arrivals: Arrivals;
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
  const quota = new Quota(options.quota, {
    ...ports,
    creatorOf: (policyId) => findTransaction(view, policyId)?.tx.sender,
    onRefused: ports.onNoRoom ?? (() => {}),
  });
  const search = createSearch((isStopped) => quota.forgetDeleted(isStopped), ports.clock);
  const { store } = quota;
  const exchange =
    peers === undefined ? undefined : new Exchange(options, { ...ports, store, peers, quota });
  exchange?.listen();
  const counts = (item: ItemId): boolean => quota.counts(item);
  const access = createAccess({ scheme, view, store, ownerAddress, counts, exchange });
  const send = createSendData({ ...ports, store, onSent: (item) => exchange?.announce(item) });
  return {
    ...access,
    bytes: () => quota.bytes(),
    arrivals: quota.arrivals,
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

/** The exchange with other nodes. */
class Exchange {
  readonly follow: ChainFollower;
  readonly queue: FetchQueue;
  private readonly options: PrivacyOptions;
  private readonly deps: ExchangeDeps;
  private readonly backlog: Backlog;
  private readonly sources: Sources;

  constructor(options: PrivacyOptions, deps: ExchangeDeps) {
    this.options = options;
    this.deps = deps;
    const { log, quota } = deps;
    const { announcementMs, fetchParallelism: parallelism } = options;
    const backlog = new Backlog({ ...deps, store: deps.rows });
    const onFree = (owner: Uint8Array, count: number): void => this.queue.retryHeld(owner, count);
    const streams = dataBudget(options.replyParallelism).concurrent;
    const limits = { ...options, askedAtOnce: askedAtOnce(parallelism, streams) };
    const sources = new Sources(limits, { ...deps, onFree });
    const fetch = createFetch(options.transferMs, {
      ...deps,
      sources,
      onStored: (item) => this.onStored(item),
      found: (item) => quota.found(item),
      // The storage logs its own failures.
      refusal: (item) => quota.refusal(item).catch(() => 'unknown' as const),
    });
    const onLost = (item: ItemId): void => log.warn('privacy.lost', namesOf(item));
    const free = () => sources.free();
    const isBusy = (owner: string): boolean => sources.isBusy(owner);
    const queue = new FetchQueue(
      { ...options, parallelism },
      { ...deps, backlog, fetch, onLost, free, isBusy },
    );
    this.backlog = backlog;
    this.sources = sources;
    this.queue = queue;
    this.follow = new ChainFollower({
      ...deps,
      backlog,
      ownAddress: deps.owner.address,
      onNew: (item) => queue.add(item, sources.isAnnounced(item) ? 0 : announcementMs),
      onMissed: (item) => queue.add(item, 0),
      onGone: (item) => queue.drop(item),
    });
  }

  /** Hears of blocks, peers and what they ask and say. */
  listen(): void {
    const { options, deps, sources, queue } = this;
    const { replyParallelism: parallelism, transferMs: timeoutMs } = options;
    this.follow.start();
    const onDamaged = (item: ItemId): void => {
      if (this.isRecipient(item, deps.owner.address)) queue.want(item);
    };
    new ItemServer({ parallelism, timeoutMs }, { ...deps, onDamaged }).start();
    deps.peers.handleNotices(ITEMS, {
      ...limitsOf(itemsBudget),
      take: ({ owner: holder }, message) => {
        const announced = decodeItems(message, deps.scheme).filter(
          (item) => this.isRecipient(item, holder) && this.isRecipient(item, deps.owner.address),
        );
        for (const item of announced) {
          sources.announced(item, holder);
          queue.retryNow(item, holder);
        }
      },
    });
    deps.peers.onOpen(({ owner: back }) => {
      sources.clearFailure(back);
      queue.retryAllNow(back, (item) => this.isRecipient(item, back));
    });
  }

  async start(): Promise<void> {
    await this.follow.catchUp();
    await this.queue.start();
  }

  async stop(): Promise<void> {
    await this.follow.stop();
    await this.queue.stop();
    await this.backlog.stop();
  }

  announce(item: ItemId): void {
    const message = encodeItems([item], this.deps.scheme);
    for (const peer of this.deps.peers.all()) {
      if (this.isRecipient(item, peer.owner)) peer.notify(ITEMS, message);
    }
  }

  private isRecipient({ policyId }: ItemId, address: Uint8Array): boolean {
    return isMember(this.deps.view, policyId, RECIPIENT, address);
  }

  private onStored(item: ItemId): void {
    const { view, clock } = this.deps;
    const bound = boundHash(view, item.policyId, item.hash);
    const found = bound && findTransaction(view, bound.transaction);
    if (found === undefined) return;
    if (clock.now() - found.tx.timestamp < this.options.newsMs) this.announce(item);
  }
}
