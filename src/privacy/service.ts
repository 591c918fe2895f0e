/**
 * Confidential data between the members of a policy (protocol.md §9): what clients send and ask, and
 * the exchange with other nodes.
 *
 * Chain and clients say what is wanted; `wanted` says when it is fetched, `sources` from whom, `pull`
 * fetches it; `reply` serves others. The store is the only place where data stay.
 */
import type { Log, Store } from '../base/ports.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { findTransaction } from '../chain/stored-blocks.ts';
import { boundHash, isMember, RECIPIENT } from '../ledger/policies.ts';
import { type Access, answering, createAccess } from './access.ts';
import { createBacklog } from './backlog.ts';
import { createFetch } from './fetch.ts';
import { type Follow, followChain } from './follow.ts';
import { type ItemId, namesOf } from './item.ts';
import { decodeItems, encodeItems, ITEMS, ITEMS_BYTES_MAX } from './messages.ts';
import type { Peers } from './peers.ts';
import { replyToPeers } from './reply.ts';
import { createSendData, type SendData, type SendPorts } from './send.ts';
import type { TransferPorts } from './session-key.ts';
import { createSources } from './sources.ts';
import { createWanted, type Wanted } from './wanted.ts';

export interface PrivacyOptions {
  /** Transfers served at once. */
  readonly replyParallelism: number;
  /** Transfers fetched at once. */
  readonly fetchParallelism: number;
  /** Limit for one transfer. */
  readonly transferMs: number;
  readonly attemptsMax: number;
  readonly firstDelayMs: number;
  readonly lostEveryMs: number;
  /** How long announcements are waited for before members are asked at random. */
  readonly announcementMs: number;
  /** Data bound longer ago are not announced. */
  readonly newsMs: number;
  readonly failedMax: number;
  readonly failedMs: number;
}

export interface PrivacyPorts extends TransferPorts, Omit<SendPorts, 'onSent'> {
  readonly blockchain: Blockchain;
  /** Where the node keeps its own rows. */
  readonly rows: Store;
  readonly log: Log;
  /** Undefined: the node takes no part in the exchange. */
  readonly peers: Peers | undefined;
}

export interface Privacy extends Access {
  readonly send: SendData;
  /** Begins to fetch. */
  start(): Promise<void>;
  /** Resolves when nothing is being fetched or stored. The network has to be closed before. */
  stop(): Promise<void>;
}

/** Its protocols are registered here, so the network starts after it. */
export function createPrivacy(options: PrivacyOptions, ports: PrivacyPorts): Privacy {
  const { peers, store, view, ownerAddress, chain } = ports;
  const exchange = peers === undefined ? undefined : createExchange(options, { ...ports, peers });
  const access = createAccess({ chain, view, store, ownerAddress, exchange });
  const send = createSendData({ ...ports, onSent: (item) => exchange?.announce(item) });
  return {
    ...access,
    send: (request, broadcast) => answering(() => send(request, broadcast)),
    start: async () => exchange?.start(),
    async stop() {
      await exchange?.stop();
      await store.stop();
    },
  };
}

interface ExchangeService {
  readonly follow: Follow;
  readonly wanted: Wanted;
  announce(item: ItemId): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

function createExchange(
  options: PrivacyOptions,
  ports: PrivacyPorts & { readonly peers: Peers },
): ExchangeService {
  const { peers, view, chain, clock, owner, log } = ports;
  const backlog = createBacklog({ ...ports, store: ports.rows });
  const sources = createSources(options, ports);
  const fetch = createFetch(options.transferMs, { ...ports, sources, onStored });
  const wanted = createWanted(
    { ...options, parallelism: options.fetchParallelism },
    { ...ports, backlog, fetch, onLost: (item) => log.warn('privacy.lost', namesOf(item)) },
  );
  const follow = followChain({
    ...ports,
    backlog,
    ownAddress: owner.address,
    onNew: (item) => wanted.add(item, sources.isAnnounced(item) ? 0 : options.announcementMs),
    onMissed: (item) => wanted.add(item, 0),
    onGone: wanted.drop,
  });
  replyToPeers({ parallelism: options.replyParallelism, timeoutMs: options.transferMs }, ports);

  const isRecipient = ({ policyId }: ItemId, address: Uint8Array): boolean =>
    isMember(view, policyId, RECIPIENT, address);

  peers.handleNotices(ITEMS, {
    messageBytesMax: ITEMS_BYTES_MAX,
    take({ owner: holder }, message) {
      const told = decodeItems(message, chain).filter(
        (item) => isRecipient(item, holder) && isRecipient(item, owner.address),
      );
      for (const item of told) {
        sources.announced(item, holder);
        wanted.hope(item);
      }
    },
  });

  peers.onOpen(({ owner: back }) => {
    sources.forgive(back);
    wanted.hopeWhere((item) => isRecipient(item, back));
  });

  function announce(item: ItemId): void {
    const message = encodeItems([item], chain);
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
    wanted,
    announce,
    async start() {
      await follow.catchUp();
      await wanted.resume();
    },
    async stop() {
      await follow.stop();
      await wanted.stop();
      await backlog.stop();
    },
  };
}
