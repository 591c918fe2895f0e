/** Headers of the chain of a node: how many transactions its blocks hold, and when they came. */
import type { NodeProcess } from './node-process.ts';

export interface Header {
  readonly height: number;
  readonly signature: string;
  /** Milliseconds by the clock of the machine; the time at which the turn of the block began. */
  readonly timestamp: number;
  readonly transactionCount: number;
}

const HEADERS_MAX = 100;

export const tipOf = async (node: NodeProcess): Promise<Header> =>
  (await node.get('/blocks/headers/last')) as Header;

export async function headersAbove(node: NodeProcess, height: number): Promise<Header[]> {
  const last = (await tipOf(node)).height;
  const headers: Header[] = [];
  for (let from = height + 1; from <= last; from += HEADERS_MAX) {
    const to = Math.min(last, from + HEADERS_MAX - 1);
    headers.push(...((await node.get(`/blocks/headers/seq/${from}/${to}`)) as Header[]));
  }
  return headers;
}

export const transactionsIn = (headers: readonly Pick<Header, 'transactionCount'>[]): number =>
  headers.reduce((sum, { transactionCount }) => sum + transactionCount, 0);

/**
 * Transactions that blocks take in a second, from the first block between the two times to the last
 * one. The first itself does not count: what it holds came before it. Undefined where there are too
 * few blocks.
 */
export function committedPerSecond(
  headers: readonly Pick<Header, 'timestamp' | 'transactionCount'>[],
  from: number,
  to: number,
): number | undefined {
  const [first, ...others] = headers.filter((one) => from <= one.timestamp && one.timestamp <= to);
  const last = others.at(-1);
  if (first === undefined || last === undefined) return undefined;
  return (transactionsIn(others) * 1000) / (last.timestamp - first.timestamp);
}
