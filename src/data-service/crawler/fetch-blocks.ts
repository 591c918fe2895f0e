/**
 * Fetches blocks ahead of the writer: several ranges at a time, delivered in order. The bytes of
 * answers that wait for the writer are limited, and the ranges adapt to the size of the blocks.
 */
import { MIB } from '../../base/limits/budget.ts';
import { areLinked, type ChainBlock } from './chain-block.ts';
import type { CrawlMeter } from './meter.ts';
import { type NodeReader, TooMuch } from './node-reader.ts';
import type { Tip } from './store-end.ts';

export interface Fetching {
  /** The block before the first one. */
  readonly after: Tip;
  readonly to: number;
  /** Blocks of one request at most. */
  readonly rangeMax: number;
  /** Requests at a time. */
  readonly concurrency: number;
}

export interface Portion {
  readonly blocks: readonly ChainBlock[];
  /** Of their JSON. */
  readonly bytes: number;
  /** Bytes of fetched answers that the writer has not taken yet. */
  readonly waiting: number;
}

const BYTES_WAITING_MAX = 64 * MIB;
const ANSWER_BYTES = MIB;
/** Before the size of a block is known. The store waits for the first answer. */
const FIRST_BLOCKS = 10;

interface Answer {
  readonly blocks: readonly ChainBlock[];
  readonly bytes: number;
  /** The last height that was asked for: lower than wanted where that would have been too much. */
  readonly to: number;
}

interface Asked {
  readonly to: number;
  readonly answer: Promise<Answer>;
}

/** Ends early where the node's chain ends early, or where its blocks are not linked. */
export async function* fetchBlocks(
  node: NodeReader,
  { after, to, rangeMax, concurrency }: Fetching,
  meter: Pick<CrawlMeter, 'fetching'>,
): AsyncGenerator<Portion> {
  const queue: Asked[] = [];
  let next = after.height + 1;
  let blockBytes = ANSWER_BYTES / FIRST_BLOCKS;
  let waiting = 0;
  /** Bytes that answers under way are expected to have. */
  let expected = 0;
  const hasRoom = (): boolean =>
    queue.length === 0 || (queue.length < concurrency && waiting + expected < BYTES_WAITING_MAX);
  const fill = (): void => {
    while (next <= to && hasRoom()) {
      const fitting = Math.max(1, Math.floor(ANSWER_BYTES / blockBytes));
      const last = Math.min(to, next + Math.min(rangeMax, fitting) - 1);
      const fetched = meter.fetching();
      const answer = fetchLinked(node, next, last);
      const guess = blockBytes * (last - next + 1);
      expected += guess;
      answer.then(
        ({ bytes }) => {
          fetched();
          expected -= guess;
          waiting += bytes;
        },
        // The loop below reports it when its turn has come.
        () => undefined,
      );
      queue.push({ to: last, answer });
      next = last + 1;
    }
  };
  let before: Pick<ChainBlock, 'height' | 'signature'> = after;
  for (fill(); queue.length > 0; fill()) {
    const asked = queue.shift()!;
    let answer = await asked.answer;
    waiting -= answer.bytes;
    for (;;) {
      const { blocks, bytes } = answer;
      const [first] = blocks;
      if (first === undefined || !follows(first, before) || !areLinked(blocks)) return;
      before = blocks.at(-1)!;
      blockBytes = Math.max(1, bytes / blocks.length);
      yield { blocks, bytes, waiting };
      if (answer.to === asked.to) break;
      // Only now, so that the parts of a range that is too long are not in memory together.
      answer = await fetchLinked(node, answer.to + 1, asked.to);
    }
  }
}

/** What comes before the first block has no signature. */
const follows = (block: ChainBlock, before: Pick<ChainBlock, 'height' | 'signature'>): boolean =>
  block.height === before.height + 1 &&
  (before.height === 0 || block.reference === before.signature);

/** Asks once more where the blocks are not linked: the chain may have changed during the answer. */
async function fetchLinked(node: NodeReader, from: number, to: number): Promise<Answer> {
  const answer = await fetchRange(node, from, to);
  return areLinked(answer.blocks) ? answer : fetchRange(node, from, to);
}

/** The first half, or a half of that, where the node refuses more. */
export async function fetchRange(node: NodeReader, from: number, to: number): Promise<Answer> {
  for (let last = to; ; last = Math.floor((from + last) / 2)) {
    try {
      return { ...(await node.blocks(from, last)), to: last };
    } catch (cause) {
      if (!(cause instanceof TooMuch) || from === last) throw cause;
    }
  }
}
