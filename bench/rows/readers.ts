/** Reads of one node over 32 connections: balances, transactions, headers of blocks. */
import { base58 } from '../../src/base/base58.ts';
import type { Bench } from '../bench.ts';
import type { GeneratedChain } from '../chain/generate.ts';
import { batch, get } from '../load/requests.ts';
import type { Contender } from '../measure/contender.ts';
import type { NodeProcess } from '../node/node-process.ts';

const CONNECTIONS = 32;

type Loading = Pick<Bench, 'load'>;

export function readers(bench: Loading, node: NodeProcess, chain: GeneratedChain): Contender[] {
  const { folder, senders, height, ids } = chain;
  const reader = (name: string, paths: readonly string[]): Contender =>
    readerOf(bench, node, name, shuffled(paths));
  const addresses = senders.map(({ address }) => folder.scheme.addressToText(address));
  const heights = Array.from({ length: height }, (_, i) => i + 1);
  return [
    reader(
      'balance',
      addresses.map((address) => `/addresses/balance/${address}`),
    ),
    reader(
      'transaction',
      ids.map((id) => `/transactions/info/${base58.encode(id)}`),
    ),
    reader(
      'header',
      heights.map((at) => `/blocks/headers/at/${at}`),
    ),
  ];
}

/**
 * Reads these paths of the node in turn. The load never sleeps, so that the node does not have to
 * wake it; what the load takes is no cost of a read.
 */
export function readerOf(
  bench: Loading,
  node: NodeProcess,
  name: string,
  paths: readonly string[],
): Contender {
  const requests = batch(paths.map(get));
  return {
    name,
    async run(ms) {
      const before = node.cpuSeconds();
      const ports = [node.port];
      const job = { ports, connections: CONNECTIONS, durationMs: ms, once: false, polls: true };
      const result = await bench.load.run({ ...job, requests });
      if (result.refused > 0) throw new Error(`the node refused a read: ${result.sample}`);
      const cost = (node.cpuSeconds() - before) / result.answers;
      return { ...result, cpuPerOperation: cost, costPerOperation: cost };
    },
  };
}

/** The same order in every run, and none that a cache would like. */
function shuffled<T>(items: readonly T[]): T[] {
  const out = [...items];
  let state = 1;
  for (let i = out.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = state % (i + 1);
    [out[i], out[j]] = [out[j]!, out[i]!];
  }
  return out;
}
