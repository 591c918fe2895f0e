/**
 * Subscribers over gRPC that are killed at random and go on with the last block that they have, or,
 * where the chain has left it, with one before it: they see what a replay of the whole chain shows.
 */
import t from 'tap';
import { ApiError } from '../../src/base/errors.ts';
import type { PlainMessage } from '../../src/base/ports/event-service.ts';
import { ChainFeed } from '../../src/events/chain-feed.ts';
import { type CountedService, createEventService } from '../../src/events/event-service.ts';
import { newChain } from '../chain/chain-harness.ts';
import {
  BLOCKS,
  goOn,
  MS_MAX,
  type Numbers,
  numbers,
  REORGANISATIONS,
  SEEDS,
  settled,
  stored,
} from './restless-chain.ts';

const SUBSCRIBERS = 4;

t.setTimeout(MS_MAX);

for (let seed = 1; seed <= SEEDS; seed++) {
  t.test(`${BLOCKS} blocks, ${REORGANISATIONS} reorganisations, seed ${seed}`, async (t) => {
    const random = numbers(seed);
    const chain = await newChain();
    const { blockchain, clock } = chain;
    const feed = new ChainFeed({ chain: blockchain, clock });
    const service = createEventService(feed, clock);
    const all = Array.from({ length: SUBSCRIBERS }, () => new SubscriberClient(random));
    let reorganisations = 0;
    for (let block = 0; block < BLOCKS; block++) {
      if (await goOn(chain, block, random)) reorganisations++;
      for (const one of all) {
        if (one.isOpen) {
          if (random(6) === 0) one.kill();
        } else if (random(3) === 0) one.open(service);
      }
      await settled();
    }
    const replay = new SubscriberClient(random);
    for (const one of [...all, replay]) {
      one.isKilled = false;
      // One whose last blocks are gone asks for one after the other.
      for (let tries = 0; tries < 100 && !one.isAtEnd(blockchain.tip().id); tries++) {
        if (!one.isOpen) one.open(service);
        await settled();
      }
    }
    t.equal(reorganisations, REORGANISATIONS);
    t.strictSame(replay.transactions(), stored(chain), 'the replay is the chain');
    for (const one of all) {
      t.strictSame(one.transactions(), replay.transactions(), `${one.kills} kills`);
      t.strictSame(one.heights(), replay.heights());
      t.ok(one.kills > BLOCKS / 40 && one.rollbacks > 0, `${one.rollbacks} rollbacks`);
    }
    t.ok(
      all.some(({ lost }) => lost > 0),
      'the last block of one was gone',
    );
    for (const one of [...all, replay]) one.kill();
    feed.stop();
  });
}

interface Block {
  readonly height: number;
  readonly id: string;
  readonly txs: readonly string[];
}

const hexOf = (bytes: unknown): string => Buffer.from(bytes as Uint8Array).toString('hex');

/** An application: it keeps the blocks that it is told. */
class SubscriberClient {
  private readonly random: Numbers;
  private left = new AbortController();
  private blocks: Block[] = [];
  /** Of the next block, which names them. */
  private part: readonly string[] = [];
  isOpen = false;
  isKilled = true;
  kills = 0;
  rollbacks = 0;
  /** Blocks that it had, and that the chain did not know any more when it came back. */
  lost = 0;

  constructor(random: Numbers) {
    this.random = random;
  }

  open(service: CountedService): void {
    const left = new AbortController();
    this.left = left;
    this.isOpen = true;
    this.part = [];
    const last = this.blocks.at(-1);
    const from = last ? { blockId: Buffer.from(last.id, 'hex') } : 'genesis';
    const subscriber = {
      client: '',
      signal: left.signal,
      write: async (event: PlainMessage) => {
        if (!left.signal.aborted) this.take(event);
      },
    };
    service.subscribe({ from, filters: [] }, subscriber).catch((cause: unknown) => {
      if (!(cause instanceof ApiError) || cause.entry !== 'BlockNotFound') throw cause;
      if (left.signal.aborted) return;
      this.isOpen = false;
      this.blocks.pop();
      this.lost++;
    });
  }

  kill(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.left.abort();
    this.kills++;
  }

  isAtEnd(id: Uint8Array): boolean {
    return this.isOpen && this.blocks.at(-1)?.id === hexOf(id);
  }

  transactions(): readonly string[] {
    return this.blocks.flatMap(({ height, txs }) => txs.map((id) => `${height} ${id}`));
  }

  heights(): readonly number[] {
    return this.blocks.map(({ height }) => height);
  }

  /** It may be killed between any two events. */
  private take(event: PlainMessage): void {
    const { appendedBlockHistory, microBlockAppended, blockAppended, rollbackCompleted } =
      event as Readonly<Record<string, PlainMessage | undefined>>;
    if (microBlockAppended !== undefined) this.part = idsIn(microBlockAppended);
    if (appendedBlockHistory !== undefined) {
      this.add(appendedBlockHistory, idsIn(appendedBlockHistory));
    }
    if (blockAppended !== undefined) {
      const named = (blockAppended['txIds'] as readonly Uint8Array[]).map(hexOf);
      if (named.join() !== this.part.join()) throw new Error('the block has other transactions');
      this.add(blockAppended, named);
      this.part = [];
    }
    if (rollbackCompleted !== undefined) {
      const to = hexOf(rollbackCompleted['returnToBlockSignature']);
      const at = this.blocks.findIndex(({ id }) => id === to);
      if (at === -1) throw new Error('a rollback to an unknown block');
      this.blocks = this.blocks.slice(0, at + 1);
      this.rollbacks++;
    }
    if (this.isKilled && this.random(50) === 0) this.kill();
  }

  private add(block: PlainMessage, txs: readonly string[]): void {
    const height = block['height'] as number;
    const last = this.blocks.at(-1);
    if (last !== undefined && hexOf(block['reference']) !== last.id) {
      throw new Error(`block ${height} does not follow ${last.height}`);
    }
    this.blocks.push({ height, id: hexOf(block['blockSignature']), txs });
  }
}

/** The transaction is the only message in its envelope. */
const idsIn = (of: PlainMessage): readonly string[] =>
  (of['txs'] as readonly PlainMessage[]).map((tx) => {
    const inner = Object.values(tx).find((value) => typeof value === 'object') as PlainMessage;
    return hexOf(inner['id']);
  });
