/**
 * The service of events over gRPC (node.md#events-over-grpc): blocks with their transactions from a
 * block on, then new ones, and rollbacks. New transactions come in a part of a block, as from nodes
 * that make blocks in parts, and then the block that names them.
 */
import { base58 } from '../base/base58.ts';
import { equal } from '../base/bytes.ts';
import { apiError } from '../base/errors.ts';
import { eventLimits } from '../base/limits/event-limits.ts';
import type { Clock } from '../base/ports/clock.ts';
import type {
  EventService,
  PlainMessage,
  SubscribeOn,
  Subscriber,
  TransactionFilter,
} from '../base/ports/event-service.ts';
import { BLOCK_ID_BYTES } from '../base/sizes.ts';
import { heightOf } from '../chain/store/stored-blocks.ts';
import { Alarm } from '../concurrency/alarm.ts';
import { Semaphore } from '../concurrency/semaphore.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import type { Tx } from '../tx/transaction.ts';
import type { ChainFeed } from './chain-feed.ts';
import type { LoadedBlock } from './loaded-block.ts';
import { beforeAll, endOf, type Place } from './place.ts';
import { hasMessage, txMessage } from './tx-message.ts';

/** Ids of transactions that a rollback can name. */
const SENT_MAX = 20_000;
const POLL_MS = 60_000;
const BLOCKS = { kinds: new Set(['block'] as const) };

export interface CountedService extends EventService {
  /** Subscriptions that are open. */
  count(): number;
}

export function createEventService(
  feed: ChainFeed,
  clock: Pick<Clock, 'after' | 'monotonic' | 'turn'>,
  ended: (reason: 'slow') => void = () => {},
): CountedService {
  /** Few read the past at a time, and clients take turns. */
  const reading = new Semaphore(eventLimits.apart.value);
  let open = 0;
  return {
    count: () => open,
    endedSlow: () => ended('slow'),
    async subscribe(request, subscriber) {
      const alarm = new Alarm(clock);
      const place = startOf(request, feed);
      const endListening = feed.listen(alarm.ring);
      subscriber.signal.addEventListener('abort', alarm.ring);
      open++;
      try {
        await new Subscription(request, { feed, subscriber, clock, reading }).run(place, alarm);
      } finally {
        open--;
        subscriber.signal.removeEventListener('abort', alarm.ring);
        endListening();
      }
    },
  };
}

/** Throws ApiError where the chain has no such block. */
function startOf({ from }: SubscribeOn, feed: ChainFeed): Place {
  if (from === 'now') return feed.end();
  if (from === 'genesis') return beforeAll(0);
  const { blockId } = from;
  const height = blockId.length === BLOCK_ID_BYTES ? heightOf(feed.view, blockId) : undefined;
  const place = height && endOf(feed.view, height, 0);
  if (!place) throw apiError('BlockNotFound', base58.encode(blockId));
  return place;
}

interface SubscriptionDeps {
  readonly feed: ChainFeed;
  readonly subscriber: Subscriber;
  readonly clock: Pick<Clock, 'monotonic' | 'turn'>;
  readonly reading: Semaphore;
}

class Subscription {
  private readonly filters: readonly TransactionFilter[];
  private readonly feed: ChainFeed;
  private readonly subscriber: Subscriber;
  private readonly clock: Pick<Clock, 'monotonic' | 'turn'>;
  private readonly reading: Semaphore;
  /** Blocks that were sent, with the ids of their transactions; the oldest is the first. */
  private readonly sent: { readonly height: number; readonly ids: readonly Uint8Array[] }[] = [];
  private sentIds = 0;
  /** The client has all that there was; what comes now is new. */
  private isNew = false;

  constructor({ filters }: SubscribeOn, { feed, subscriber, clock, reading }: SubscriptionDeps) {
    this.filters = filters;
    this.feed = feed;
    this.subscriber = subscriber;
    this.clock = clock;
    this.reading = reading;
  }

  async run(start: Place, alarm: Alarm): Promise<void> {
    const { feed, subscriber, clock } = this;
    const slice = new TimeSlice(clock);
    let place = start;
    while (!subscriber.signal.aborted) {
      if (slice.isOver()) await slice.yield();
      if (feed.isEnd(place, BLOCKS)) {
        this.isNew = true;
        await alarm.wait(POLL_MS);
        continue;
      }
      const from = place;
      const following = await this.read(() => feed.next(from, BLOCKS));
      if (following === undefined) throw apiError('BlockNotFound', base58.encode(place.id));
      const before = place;
      place = following.place;
      for (const event of following.events) {
        if (event.kind === 'rollback') await this.rollBack(event.place);
        // Where the chain has left it, what follows the place before is the rollback.
        if (event.kind === 'block' && !(await this.block(event.place))) place = before;
      }
    }
  }

  private async rollBack({ height, id }: Place): Promise<void> {
    const rollbackTxIds: Uint8Array[] = [];
    while ((this.sent.at(-1)?.height ?? 0) > height) {
      const { ids } = this.sent.pop()!;
      rollbackTxIds.unshift(...ids);
      this.sentIds -= ids.length;
    }
    this.isNew = false;
    const rollbackCompleted = { returnToBlockSignature: id, rollbackTxIds };
    await this.subscriber.write({ rollbackCompleted });
  }

  /** False where the chain has left the block. */
  private async block({ height, id }: Place): Promise<boolean> {
    const block = await this.read(() => this.feed.blocks.load(height));
    if (block === undefined || !equal(block.id, id)) return false;
    const txs = block.txs.filter((tx) => hasMessage(tx) && this.wants(tx));
    const ids = txs.map((tx) => tx.id);
    const header = headerOf(block, this.feed);
    if (this.isNew) {
      if (txs.length > 0) {
        await this.subscriber.write({ microBlockAppended: { txs: await this.messages(txs) } });
      }
      await this.subscriber.write({ blockAppended: { ...header, txIds: ids } });
    } else {
      const appendedBlockHistory = { ...header, txs: await this.messages(txs) };
      await this.subscriber.write({ appendedBlockHistory });
    }
    this.sent.push({ height, ids });
    this.sentIds += ids.length;
    while (this.sentIds > SENT_MAX || this.sent.length > SENT_MAX) {
      this.sentIds -= this.sent.shift()!.ids.length;
    }
    return true;
  }

  /** No place is held while the client takes what it was sent. */
  private read<T>(work: () => Promise<T>): Promise<T> {
    return this.reading.run(work, this.subscriber.client);
  }

  private messages(txs: readonly Tx[]): Promise<readonly PlainMessage[]> {
    return this.read(() => this.printed(txs));
  }

  private async printed(txs: readonly Tx[]): Promise<readonly PlainMessage[]> {
    const slice = new TimeSlice(this.clock);
    const { scheme } = this.feed.view;
    const made: PlainMessage[] = [];
    for (const tx of txs) {
      made.push(txMessage(tx, scheme));
      if (slice.isOver()) await slice.yield();
    }
    return made;
  }

  private wants(tx: Tx): boolean {
    return this.filters.every(({ isOut, types, contracts }) => {
      const named = [tx, ...(tx.def.members?.(tx) ?? [])].flatMap((one) => {
        const contract = one.def.contract?.(one);
        return contract === undefined ? [] : [contract];
      });
      const isNamed =
        (types === undefined || types.includes(tx.type)) &&
        (contracts === undefined ||
          named.length === 0 ||
          named.some((one) => contracts.some((id) => equal(id, one))));
      return isNamed !== isOut;
    });
  }
}

const headerOf = ({ id, height, row }: LoadedBlock, { view }: ChainFeed): PlainMessage => ({
  blockSignature: id,
  reference: row.header.reference,
  minerAddress: view.scheme.addressOf(row.header.generator),
  height,
  version: row.header.version,
  timestamp: row.header.timestamp,
  fee: row.fee,
  blockSize: row.blockSize,
  features: row.header.features,
});
