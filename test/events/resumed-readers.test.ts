/**
 * Readers that are killed at random and go on with the last id that they have, while blocks come and
 * are taken back, and while the node is started anew: they see what a replay of the whole chain shows.
 */
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { ChainFeed } from '../../src/events/chain-feed.ts';
import { EventStreams } from '../../src/events/event-streams.ts';
import { eventKinds } from '../../src/events/event-text.ts';
import { readPlace } from '../../src/events/place.ts';
import { newChain, type TestChain } from '../chain/chain-harness.ts';
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

const READERS = 4;

t.setTimeout(MS_MAX);

for (let seed = 1; seed <= SEEDS; seed++) {
  t.test(`${BLOCKS} blocks, ${REORGANISATIONS} reorganisations, seed ${seed}`, async (t) => {
    const random = numbers(seed);
    const chain = await newChain();
    let node = started(chain);
    const readers = Array.from({ length: READERS }, () => new Reader(random));
    let reorganisations = 0;
    for (let block = 0; block < BLOCKS; block++) {
      if (await goOn(chain, block, random)) reorganisations++;
      if (random(40) === 0) {
        for (const reader of readers) reader.kill();
        await node.stop();
        node = started(chain);
      }
      for (const reader of readers) {
        if (reader.isOpen) {
          if (random(6) === 0) reader.kill();
        } else if (random(3) === 0) reader.open(node);
      }
      await settled();
    }
    for (const reader of readers) {
      reader.isKilled = false;
      if (!reader.isOpen) reader.open(node);
    }
    await settled();
    const replay = new Reader(random);
    replay.isKilled = false;
    replay.open(node, 1);
    await settled();
    t.equal(reorganisations, REORGANISATIONS);
    t.strictSame(replay.transactions, stored(chain), 'the replay is the chain');
    for (const reader of readers) {
      t.strictSame(reader.transactions, replay.transactions, `${reader.kills} kills`);
      t.strictSame(reader.blocks, replay.blocks);
      t.ok(reader.kills > BLOCKS / 40 && reader.rollbacks > 0, `${reader.rollbacks} rollbacks`);
    }
    await node.stop();
  });
}

const started = ({ blockchain, clock }: TestChain): EventStreams =>
  new EventStreams(
    { readersMax: 10, readersOfClientMax: 10 },
    {
      feed: new ChainFeed({ chain: blockchain, clock }),
      clock,
      headerText: (height) => JSON.stringify({ height }),
    },
  );

/** A client: it keeps what it is told, and the last id. */
class Reader {
  private readonly random: Numbers;
  private closed: (() => void) | undefined;
  private lastId = '';
  transactions: string[] = [];
  blocks: number[] = [];
  kills = 0;
  isKilled = true;
  rollbacks = 0;

  constructor(random: Numbers) {
    this.random = random;
  }

  get isOpen(): boolean {
    return this.closed !== undefined;
  }

  open(node: EventStreams, first = 1): void {
    const { first: text, stream } = node.open({
      filter: { kinds: new Set(Object.keys(eventKinds) as (keyof typeof eventKinds)[]) },
      filterText: '',
      client: '',
      from: this.lastId === '' ? first : readPlace(this.lastId)!,
      follows: true,
    });
    this.closed = stream.closed;
    this.take(text);
    stream.begin({
      write: (text) => {
        this.take(Buffer.from(text).toString());
        return true;
      },
      end: (text) => {
        this.closed = undefined;
        if (!String(text).includes('stopping')) throw new Error(String(text));
      },
    });
  }

  kill(): void {
    if (this.closed === undefined) return;
    this.closed();
    this.closed = undefined;
    this.kills++;
  }

  /** It may be killed in the middle of a text, between two events. */
  private take(text: string): void {
    for (const part of text.split('\n\n')) {
      if (this.closed === undefined) return;
      this.event(part);
      if (this.isKilled && this.random(50) === 0) this.kill();
    }
  }

  private event(part: string): void {
    const fields = new Map(
      part.split('\n').map((line) => {
        const at = line.indexOf(': ');
        return [line.slice(0, at), line.slice(at + 2)] as const;
      }),
    );
    this.lastId = fields.get('id') ?? this.lastId;
    const data = fields.get('data');
    if (data === undefined) return;
    const { height, id } = JSON.parse(data) as { height: number; id: string };
    if (fields.get('event') === 'transaction') this.transactions.push(`${height} ${hexOf(id)}`);
    else if (fields.get('event') === 'block') this.blocks.push(height);
    else {
      this.rollbacks++;
      this.transactions = this.transactions.filter((one) => Number(one.split(' ')[0]) <= height);
      this.blocks = this.blocks.filter((one) => one <= height);
    }
  }
}

const hexOf = (id: string): string => Buffer.from(base58.decode(id)).toString('hex');
