/**
 * A network whose senders have funds and whose miners have their role; a node of the network makes
 * it.
 */

import type { Sender } from '../../src/cli/load/transfers.ts';
import type { Bench } from '../bench.ts';
import { createSenders } from '../transfers/senders.ts';
import { broadcastBody, fundingTransfers, minerPermits } from '../transfers/transfers.ts';
import { type DevFolder, makeDevFolder } from './dev-folder.ts';
import { type NodeProcess, startNode } from './node-process.ts';

export interface FundedOptions {
  readonly roundMs: number;
  /** Members who make blocks; by default the owner alone. */
  readonly miners?: number;
  /** As in DevFolderOptions. */
  readonly blockBytes?: number;
  /** Senders beside the usual ones, with money for a few transfers each. */
  readonly others?: number;
  /** As in DevFolderOptions. */
  readonly finality?: boolean;
  /** As in DevFolderOptions. */
  readonly features?: readonly number[] | undefined;
  /** Whose node makes it, by default this one. */
  readonly checkout?: string | undefined;
}

export interface Funded {
  readonly folder: DevFolder;
  readonly senders: readonly Sender[];
  readonly others: readonly Sender[];
}

const SENDERS = 512;
/** Enough for a thousand transfers. */
const OTHERS_FUNDS = 10_00000000n;
const WAIT_MS = 50;
const WAIT_MS_MAX = 180_000;

/** What it needs is in blocks already, also for nodes that make none. */
export async function makeFunded(
  bench: Pick<Bench, 'folder'>,
  name: string,
  options: FundedOptions,
): Promise<Funded> {
  const { roundMs, blockBytes, finality, features, miners = 1, others: count = 0 } = options;
  const dir = bench.folder(name);
  const folder = await makeDevFolder({
    dir,
    roundMs,
    blockBytes,
    finality,
    features,
    genesisTimestamp: Date.now() - roundMs,
  });
  const { scheme, owner, members } = folder;
  const senders = createSenders(SENDERS, scheme);
  const others = createSenders(count, scheme, 'another bench sender');
  const node = await startNode(folder, { checkout: options.checkout });
  const permits = minerPermits(members.slice(1, miners), owner, Date.now(), scheme);
  const now = Date.now();
  const funding = [
    ...fundingTransfers(senders, owner, now, scheme),
    // Their timestamps grow with the number of senders, and none may lie far ahead.
    ...fundingTransfers(others, owner, now - count, scheme, OTHERS_FUNDS),
  ];
  // From the permits on the node is one miner of several, and alone.
  for (const txs of [funding, permits]) {
    for (const tx of txs) await submit(node.port, broadcastBody(tx, scheme));
    await drained(node);
  }
  await node.stop();
  return { folder, senders, others };
}

export async function submit(port: number, body: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/transactions/broadcast`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (!response.ok) throw new Error(`broadcast: ${response.status} ${await response.text()}`);
}

export async function poolSize(node: NodeProcess): Promise<number> {
  const { size } = (await node.get('/transactions/unconfirmed/size')) as { size: number };
  return size;
}

export const drained = (node: NodeProcess): Promise<void> =>
  until('an empty pool', async () => (await poolSize(node)) === 0);

export async function until(
  what: string,
  isTrue: () => Promise<boolean>,
  waitMs = WAIT_MS_MAX,
): Promise<void> {
  for (let waited = 0; waited < waitMs; waited += WAIT_MS) {
    if (await isTrue()) return;
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
  throw new Error(`it never came: ${what}`);
}
