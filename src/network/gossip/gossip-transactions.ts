/**
 * Spreads unconfirmed transactions (mempool.md): the node announces the hashes of those in its pool
 * (announcer.ts), and fetches announced transactions that it lacks (fetch-transactions.ts).
 *
 * Invariants: nothing is sent or accepted while the node is far behind, and watchers are left out.
 */

import { limitsOf } from '../../base/budget.ts';
import { latin1 } from '../../base/bytes.ts';
import type { Clock, Log } from '../../base/ports.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { ExpiringSet } from '../../concurrency/bounded-cache.ts';
import type { BytesIndex } from '../../mempool/bytes-index.ts';
import type { PoolEntry } from '../../mempool/entry.ts';
import type { Pool } from '../../mempool/pool.ts';
import { budgets } from '../messages/message-budgets.ts';
import {
  decodeTxHashes,
  encodeTxs,
  txLimits,
  txProtocols,
} from '../messages/transaction-messages.ts';
import type { Session, Sessions } from '../sessions/session.ts';
import { Announcer, type AnnouncerOptions } from './announcer.ts';
import { TransactionFetcher } from './fetch-transactions.ts';
import type { Suspicions } from './suspicions.ts';

export interface GossipTransactionsOptions extends AnnouncerOptions {
  readonly knownMax: number;
  readonly knownMs: number;
}

export interface GossipTransactionsPorts {
  readonly scheme: ChainScheme;
  readonly pool: Pool;
  readonly index: BytesIndex;
  readonly sessions: Sessions;
  readonly blockchain: Pick<Blockchain, 'listen'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly isFarBehind: () => boolean;
  readonly isOutdated: (height: number) => boolean;
  readonly suspicions: Suspicions;
}

export interface GossipTransactions {
  stop(): void;
}

export function createGossipTransactions(
  options: GossipTransactionsOptions,
  ports: GossipTransactionsPorts,
): GossipTransactions {
  const { scheme, pool, index, sessions, clock } = ports;
  /** Transactions that were recently checked, with any verdict. */
  const checked = new ExpiringSet(options.knownMax, options.knownMs, clock);
  const announcer = new Announcer(options, ports);
  const fetcher = new TransactionFetcher({ ...ports, checked });
  let stopped = false;

  sessions.handleNotices(txProtocols.hashes, {
    ...limitsOf(budgets.hashes),
    take: onHashes,
  });
  sessions.handleRequests(txProtocols.txs, {
    ...limitsOf(budgets.txs),
    answer: async (session, message) => answer(session, decodeTxHashes(message, scheme)),
  });
  sessions.onOpen((session) => {
    if (session.mode === 'watcher') return;
    fetcher.join(session);
    announcer.join(session);
  });
  sessions.onClose((session) => {
    announcer.leave(session);
    fetcher.leave(session);
  });
  const headMoved = (): void => {
    if (!ports.isFarBehind()) fetcher.headMoved();
  };
  const stops = [
    pool.listen({ added }),
    ports.blockchain.listen({ block: headMoved, rolledBack: headMoved }),
  ];

  function added(entry: PoolEntry): void {
    const hash = index.hashOf(entry);
    checked.add(hash);
    announcer.announce(hash, entry.returned);
  }

  function onHashes(session: Session, message: Uint8Array): void {
    if (session.mode === 'watcher' || stopped) return;
    const hashes = decodeTxHashes(message, scheme).map(latin1);
    for (const hash of hashes) announcer.delivered(session, hash);
    if (ports.isFarBehind()) return;
    const fetch = (): void =>
      fetcher.announced(
        session,
        hashes.filter((hash) => !index.isKnown(hash) && !checked.has(hash)),
      );
    const reading = pool.whenRead();
    if (reading === undefined) fetch();
    else void reading.then(fetch);
  }

  function answer(session: Session, hashes: readonly Uint8Array[]): Uint8Array {
    const txs: Uint8Array[] = [];
    let size = 0;
    for (const bytes of hashes) {
      const hash = latin1(bytes);
      const entry = index.get(hash);
      if (entry === undefined) continue;
      size += entry.size;
      if (size > txLimits.answerBytes) break;
      txs.push(entry.bytes);
      announcer.delivered(session, hash);
    }
    return encodeTxs(txs, scheme);
  }

  return {
    stop() {
      stopped = true;
      for (const end of stops) end();
      announcer.stop();
      fetcher.stop();
      ports.suspicions.stop();
    },
  };
}
