/**
 * What a node has promised to whoever watched it from outside: transactions acknowledged with 200,
 * transactions shown with a height, blocks shown at a height. After a crash all of it must hold.
 */
import { readFileSync } from 'node:fs';
import type { NodeProcess } from '../../../bench/node/node-process.ts';
import { base58 } from '../../../src/base/base58.ts';

export interface Promises {
  acknowledge(id: Uint8Array): void;
  /** Notes the blocks that are new since the last look. */
  watch(node: NodeProcess): Promise<void>;
  /** Compares a node that has just started with all that was promised; lists what is broken. */
  audit(node: NodeProcess, logFile: string): Promise<string[]>;
  counts(): { acknowledged: number; confirmed: number; refusedWithReason: number };
  /** Acknowledged, and neither in a block that was seen nor refused with a reason. */
  open(): number;
}

interface BlockJson {
  readonly signature: string;
  readonly transactions: readonly { readonly id: string }[];
}

interface Seen {
  readonly height: number;
  readonly signature: string;
}

export function createPromises(): Promises {
  const acknowledged = new Set<string>();
  /** Acknowledged and not yet seen in a block. */
  const waiting = new Set<string>();
  const confirmed = new Map<string, number>();
  const blocks = new Map<number, Seen>();
  let watched = 1;
  let refusedWithReason = 0;

  function see(height: number, block: BlockJson): void {
    blocks.set(height, { height, signature: block.signature });
    for (const { id } of block.transactions) {
      confirmed.set(id, height);
      waiting.delete(id);
    }
  }

  async function watch(node: NodeProcess): Promise<void> {
    const { height } = (await node.get('/blocks/height')) as { height: number };
    for (; watched < height; watched++) {
      see(watched + 1, (await node.get(`/blocks/at/${watched + 1}`)) as BlockJson);
    }
  }

  async function audit(node: NodeProcess, logFile: string): Promise<string[]> {
    const broken: string[] = [];
    for (const { height, signature } of blocks.values()) {
      const header = await node.get(`/blocks/headers/at/${height}`).catch(() => undefined);
      if ((header as BlockJson | undefined)?.signature !== signature) {
        broken.push(`block ${height} is not the one that was shown`);
      }
    }
    // The pool first: what leaves it meanwhile is in a block by the time the blocks are read.
    const pool = (await node.get('/transactions/unconfirmed')) as { id: string }[];
    const inPool = new Set(pool.map(({ id }) => id));
    const before = [...waiting];
    await watch(node);
    const reasons = reasonsIn(logFile);
    for (const id of before) {
      if (confirmed.has(id) || inPool.has(id)) continue;
      if (reasons.has(id)) {
        waiting.delete(id);
        refusedWithReason++;
      } else {
        broken.push(`acknowledged ${id} is neither in the chain nor in the pool`);
      }
    }
    for (const [id, height] of sample(confirmed)) {
      const found = await node.get(`/transactions/info/${id}`).catch(() => undefined);
      if ((found as { height?: number } | undefined)?.height !== height) {
        broken.push(`${id} was shown at height ${height} and is not there`);
      }
    }
    return broken;
  }

  return {
    acknowledge(id) {
      const text = base58.encode(id);
      acknowledged.add(text);
      if (!confirmed.has(text)) waiting.add(text);
    },
    watch,
    audit,
    counts: () => ({
      acknowledged: acknowledged.size,
      confirmed: confirmed.size,
      refusedWithReason,
    }),
    open: () => waiting.size,
  };
}

const SAMPLES = 400;

/** All of the newest, some of the older ones: their blocks are compared anyway. */
function sample(confirmed: ReadonlyMap<string, number>): [string, number][] {
  const all = [...confirmed];
  const step = Math.max(1, Math.floor(all.length / SAMPLES));
  return all.filter((_, i) => i % step === 0 || i >= all.length - SAMPLES);
}

/** Ids that left the pool with a recorded reason. */
function reasonsIn(logFile: string): Set<string> {
  const ids = new Set<string>();
  for (const line of readFileSync(logFile, 'utf8').split('\n')) {
    if (!line.includes('pool.dropped')) continue;
    const { id } = JSON.parse(line) as { id?: string };
    if (id !== undefined) ids.add(id);
  }
  return ids;
}
