/**
 * Fetches blocks ahead of the writer: several ranges at a time, delivered in order. The bytes of
 * answers that wait for the writer are limited, and the ranges adapt to the size of the blocks.
 */
import { RefusedError } from '../../api/client.ts';
import { MIB } from '../../base/budget.ts';
import { areLinked, type ChainBlock } from './chain-block.ts';
import type { CrawlMeter } from './meter.ts';
import type { NodeReader } from './node-reader.ts';

export interface Fetching {
  readonly from: number;
  readonly to: number;
  /** Blocks of one request at most. */
  readonly rangeMax: number;
  /** Requests at a time. */
  readonly concurrency: number;
}

export interface Portion {
  readonly blocks: readonly ChainBlock[];
  /** Bytes of fetched answers that the writer has not taken yet. */
  readonly waiting: number;
}

const BYTES_WAITING_MAX = 64 * MIB;
const ANSWER_BYTES = MIB;
/** Refused as too long, overloaded, or cut off. */
const TOO_MUCH = [400, 413];

interface Answer {
  readonly blocks: readonly ChainBlock[];
  readonly bytes: number;
}

/** Ends early where the node's chain ends early, or where its blocks are not linked. */
export async function* fetchBlocks(
  node: NodeReader,
  { from, to, rangeMax, concurrency }: Fetching,
  meter: Pick<CrawlMeter, 'fetching'>,
): AsyncGenerator<Portion> {
  const queue: Promise<Answer>[] = [];
  let next = from;
  let blockBytes = ANSWER_BYTES / rangeMax;
  let waiting = 0;
  const fill = (): void => {
    while (next <= to && queue.length < concurrency && waiting < BYTES_WAITING_MAX) {
      const fitting = Math.max(1, Math.floor(ANSWER_BYTES / blockBytes));
      const last = Math.min(to, next + Math.min(rangeMax, fitting) - 1);
      const fetched = meter.fetching();
      const answer = fetchLinked(node, next, last);
      answer.then(
        ({ bytes }) => {
          fetched();
          waiting += bytes;
        },
        // The loop below reports it when its turn has come.
        () => undefined,
      );
      queue.push(answer);
      next = last + 1;
    }
  };
  let expected = from;
  let last: ChainBlock | undefined;
  for (fill(); queue.length > 0; fill()) {
    const { blocks, bytes } = await queue.shift()!;
    waiting -= bytes;
    const first = blocks[0];
    if (first === undefined || first.height !== expected) return;
    if (last !== undefined && !areLinked([last, first])) return;
    if (!areLinked(blocks)) return;
    last = blocks.at(-1);
    blockBytes = Math.max(1, bytes / blocks.length);
    expected += blocks.length;
    yield { blocks, waiting };
  }
}

/** Asks once more where the blocks are not linked: the chain may have changed during the answer. */
async function fetchLinked(node: NodeReader, from: number, to: number): Promise<Answer> {
  const answer = await fetchRange(node, from, to);
  return areLinked(answer.blocks) ? answer : fetchRange(node, from, to);
}

async function fetchRange(node: NodeReader, from: number, to: number): Promise<Answer> {
  try {
    return await node.blocks(from, to);
  } catch (cause) {
    const isTooMuch = cause instanceof RefusedError && TOO_MUCH.includes(cause.status);
    if (!isTooMuch || from === to) throw cause;
    const middle = Math.floor((from + to) / 2);
    const lower = await fetchRange(node, from, middle);
    const upper = await fetchRange(node, middle + 1, to);
    return { blocks: [...lower.blocks, ...upper.blocks], bytes: lower.bytes + upper.bytes };
  }
}
