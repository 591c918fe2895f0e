/** What a program keeps of a stream, and what it should have of a chain. */
import type { MadeChain } from '../made-chain.ts';
import type { StreamEvent } from './event-client.ts';

/** Ids of the transactions of the chain that belong to the stream, after a height. */
export const idsOf = (chain: MadeChain, above = 0, type?: number): string[] =>
  Array.from({ length: chain.height() - above }, (_, i) => chain.block(above + i + 1)!)
    .flatMap(({ transactions }) => transactions as { id: string; type: number }[])
    .filter((tx) => type === undefined || tx.type === type)
    .map(({ id }) => id);

/** What a program has that keeps the transactions of a stream. */
export function kept(events: readonly StreamEvent[]): string[] {
  let list: { id: string; height: number }[] = [];
  for (const { type, data } of events) {
    if (type === 'transaction') list.push(data as { id: string; height: number });
    if (type === 'rollback') list = list.filter(({ height }) => height <= Number(data['height']));
  }
  return list.map(({ id }) => id);
}
