/**
 * Spreads unconfirmed transactions (mempool.md): the node announces the hashes of those in its pool
 * (announcer.ts), and fetches announced transactions that it lacks (fetch-transactions.ts).
 *
 * Invariants: nothing is sent or accepted while the node is far behind, and watchers are left out.
 */
import { latin1 } from '../../base/bytes.ts';
import { limitsOf } from '../../base/limits/budget.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { ExpiringSet } from '../../concurrency/bounded-cache.ts';
import type { BytesIndex } from '../../mempool/entries/bytes-index.ts';
import type { PoolEntry } from '../../mempool/entries/entry.ts';
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

export interface GossipTransactionsDeps {
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

export class GossipTransactions {
  private readonly deps: GossipTransactionsDeps;
  /** Transactions that were recently checked, with any verdict. */
  private readonly checked: ExpiringSet;
  private readonly announcer: Announcer;
  private readonly fetcher: TransactionFetcher;
  private stopped = false;
  private stops: readonly (() => void)[] = [];

  constructor(options: GossipTransactionsOptions, deps: GossipTransactionsDeps) {
    this.deps = deps;
    this.checked = new ExpiringSet(options.knownMax, options.knownMs, deps.clock);
    this.announcer = new Announcer(options, deps);
    this.fetcher = new TransactionFetcher({ ...deps, checked: this.checked });
  }

  /** Call before the network starts. */
  start(): void {
    const { scheme, pool, sessions, blockchain, suspicions } = this.deps;
    sessions.handleNotices(txProtocols.hashes, {
      ...limitsOf(budgets.hashes),
      take: (session, message) => this.onHashes(session, message),
    });
    sessions.handleRequests(txProtocols.txs, {
      ...limitsOf(budgets.txs),
      answer: async (session, message) => this.answer(session, decodeTxHashes(message, scheme)),
    });
    sessions.onOpen((session) => {
      if (session.mode === 'watcher') return;
      this.fetcher.join(session);
      this.announcer.join(session);
    });
    sessions.onClose((session) => {
      this.announcer.leave(session);
      this.fetcher.leave(session);
    });
    suspicions.start();
    this.announcer.start();
    const headMoved = (): void => this.headMoved();
    this.stops = [
      pool.listen({ added: (entry) => this.added(entry) }),
      blockchain.listen({ block: headMoved, rolledBack: headMoved }),
    ];
  }

  stop(): void {
    this.stopped = true;
    for (const end of this.stops) end();
    this.announcer.stop();
    this.fetcher.stop();
    this.deps.suspicions.stop();
  }

  private headMoved(): void {
    if (!this.deps.isFarBehind()) this.fetcher.headMoved();
  }

  private added(entry: PoolEntry): void {
    const hash = this.deps.index.hashOf(entry);
    this.checked.add(hash);
    this.announcer.announce(hash, entry.returned);
  }

  private onHashes(session: Session, message: Uint8Array): void {
    const { scheme, index, pool } = this.deps;
    if (session.mode === 'watcher' || this.stopped) return;
    const hashes = decodeTxHashes(message, scheme).map(latin1);
    for (const hash of hashes) this.announcer.delivered(session, hash);
    if (this.deps.isFarBehind()) return;
    const fetch = (): void =>
      this.fetcher.announced(
        session,
        hashes.filter((hash) => !index.isKnown(hash) && !this.checked.has(hash)),
      );
    const reading = pool.whenRead();
    if (reading === undefined) fetch();
    else void reading.then(fetch);
  }

  private answer(session: Session, hashes: readonly Uint8Array[]): Uint8Array {
    const txs: Uint8Array[] = [];
    let size = 0;
    for (const bytes of hashes) {
      const hash = latin1(bytes);
      const entry = this.deps.index.get(hash);
      if (entry === undefined) continue;
      size += entry.size;
      if (size > txLimits.answerBytes) break;
      txs.push(entry.bytes);
      this.announcer.delivered(session, hash);
    }
    return encodeTxs(txs, this.deps.scheme);
  }
}
