/** Wires gossip and sync together, and offers the functions that the rest of the node needs. */
import type { Clock } from '../base/ports/clock.ts';
import type { Log } from '../base/ports/log.ts';
import type { Verifier } from '../base/ports/verifier.ts';
import { connectedOf } from '../chain/apply/counted-miners.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import type { ForkChoice } from '../chain/fork/fork-choice.ts';
import type { LostBlocks } from '../chain/fork/lost-blocks.ts';
import type { ScriptHistory } from '../chain/store/script-history.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { Consensus } from '../consensus/consensus.ts';
import { createBytesIndex } from '../mempool/entries/bytes-index.ts';
import type { Pool } from '../mempool/pool.ts';
import type { Stage } from './gossip/arrivals.ts';
import { GossipBlocks } from './gossip/gossip-blocks.ts';
import {
  GossipTransactions,
  type GossipTransactionsOptions,
} from './gossip/gossip-transactions.ts';
import { Suspicions, type SuspicionsOptions } from './gossip/suspicions.ts';
import type { NodeMode } from './messages/handshake-messages.ts';
import type { Sessions } from './sessions/session.ts';
import { announceTip } from './sync/announce-tip.ts';
import type { FollowOptions } from './sync/follow-peer.ts';
import { PeerTips } from './sync/peer-tips.ts';
import { rollBackFutureBlocks } from './sync/rollback-future.ts';
import type { Seeking } from './sync/seeking.ts';
import { serveBlocks } from './sync/serve-blocks.ts';
import { Sync } from './sync/sync.ts';

export interface NetworkServiceOptions {
  readonly mode: NodeMode;
  readonly ownPublicKey: Uint8Array;
  readonly scoreTtlMs: number;
  readonly sync: FollowOptions;
  readonly transactions: GossipTransactionsOptions;
  readonly suspicions: SuspicionsOptions;
}

export interface NetworkServicePorts {
  readonly scheme: ChainScheme;
  readonly blockchain: Blockchain;
  readonly consensus: Consensus;
  readonly forkChoice: ForkChoice;
  readonly lostBlocks: LostBlocks;
  readonly pool: Pool;
  readonly sessions: Sessions;
  readonly verifier: Verifier;
  readonly clock: Clock;
  readonly log: Log;
  readonly scripts: ScriptHistory;
  /**
   * True where a feature that this release does not have is active at a height, so that newer ones
   * know more. Infinite: at any height, as far as is decided.
   */
  readonly isOutdated: (height: number) => boolean;
  readonly finality?: Seeking | undefined;
}

export interface NetworkService {
  /** True while more than one batch of blocks is missing; the node then makes no blocks. */
  isFarBehind(): boolean;
  /** A peer has announced a better chain. */
  isBehind(): boolean;
  /** How far a block has come that would take the place of the head, as its header says. */
  comingBlock(): Stage | undefined;
  readonly sync: Pick<Sync, 'state' | 'missing'>;
  /** Other miners that are connected, of those that count for the quorum (chain/apply/counted-miners.ts). */
  connectedMiners(): number;
  stop(): Promise<void>;
}

/** Registers the protocols of gossip and sync; sessions start afterwards. */
export function createNetworkService(
  options: NetworkServiceOptions,
  ports: NetworkServicePorts,
): NetworkService {
  const { scheme, blockchain, pool, sessions, clock } = ports;
  const index = createBytesIndex(pool, scheme.fastHash);
  const serve = serveBlocks(options.sync.transactionBytesMax, ports);
  const { finality } = ports;
  const peerTips = new PeerTips(options, { ...ports, seeking: finality });
  peerTips.start();
  const stopAnnouncing = announceTip(ports);
  rollBackFutureBlocks(options.ownPublicKey, { ...ports, peerTips });
  const sync = new Sync(options.sync, { ...ports, peerTips });
  sync.start();
  if (finality !== undefined) finality.onSeeking = () => sync.wake();
  const isFarBehind = (): boolean => sync.isFarBehind();
  const blocks = new GossipBlocks(
    {
      transactionBytesMax: options.sync.transactionBytesMax,
      ownPublicKey: options.ownPublicKey,
    },
    { ...ports, index, serve, isFarBehind, onOrphan: () => sync.wake() },
  );
  blocks.start();
  const suspicions = new Suspicions(options.suspicions, { ...ports, peerTips });
  const transactions =
    options.mode === 'watcher'
      ? undefined
      : new GossipTransactions(options.transactions, { ...ports, index, isFarBehind, suspicions });
  transactions?.start();

  return {
    isFarBehind,
    isBehind: () => peerTips.best() !== undefined,
    comingBlock: () => blocks.comingBlock(),
    sync,
    connectedMiners() {
      const able = sessions.all().filter(({ mode }) => mode !== 'watcher');
      const connected = able.map(({ miner }) => miner);
      const own = scheme.addressOf(options.ownPublicKey);
      return connectedOf(blockchain.countedMiners(clock.now()), connected, own);
    },
    async stop() {
      transactions?.stop();
      blocks.stop();
      ports.forkChoice.stop();
      ports.scripts.stop();
      peerTips.stop();
      stopAnnouncing();
      await sync.stop();
      index.stop();
    },
  };
}
