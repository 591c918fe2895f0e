/**
 * The promises of a node to its clients: transactions acknowledged with 200, transactions shown
 * with a height, blocks shown at a height. All must hold after a crash.
 */
import { readFileSync } from 'node:fs';
import type { NodeProcess } from '../../../../bench/node/node-process.ts';
import { base58 } from '../../../../src/base/base58.ts';

export interface Promises {
  acknowledge(id: Uint8Array): void;
  /** Notes the blocks that are new since the last look. */
  watch(node: NodeProcess): Promise<void>;
  /** Compares a node that has just started with all that was promised; lists what is broken. */
  audit(node: NodeProcess, logFile: string): Promise<string[]>;
  counts(): { acknowledged: number; confirmed: number };
  /** Why some were refused after they had been acknowledged. */
  reasons(): ReadonlySet<string>;
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
  let turn: Promise<void> = Promise.resolve();
  const given = new Set<string>();

  function see(height: number, block: BlockJson): void {
    blocks.set(height, { height, signature: block.signature });
    for (const { id } of block.transactions) {
      confirmed.set(id, height);
      waiting.delete(id);
    }
  }

  async function look(node: NodeProcess): Promise<void> {
    const { height } = (await node.get('/blocks/height')) as { height: number };
    for (; watched < height; watched++) {
      see(watched + 1, (await node.get(`/blocks/at/${watched + 1}`)) as BlockJson);
    }
  }

  // One look at a time: two would count the same block, and then miss the next one.
  function watch(node: NodeProcess): Promise<void> {
    turn = turn.catch(() => undefined).then(() => look(node));
    return turn;
  }

  async function audit(node: NodeProcess, logFile: string): Promise<string[]> {
    const broken: string[] = [];
    const there = await signaturesAt(node, Math.max(0, ...blocks.keys()));
    for (const { height, signature } of blocks.values()) {
      if (there.get(height) !== signature) {
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
      const reason = reasons.get(id);
      if (reason !== undefined) {
        waiting.delete(id);
        given.add(reason);
      } else {
        broken.push(`acknowledged ${id} is neither in the chain nor in the pool`);
      }
    }
    const looks = sample(confirmed).map(async ([id, height]) => {
      const found = await node.get(`/transactions/info/${id}`).catch(() => undefined);
      if ((found as { height?: number } | undefined)?.height !== height) {
        broken.push(`${id} was shown at height ${height} and is not there`);
      }
    });
    await Promise.all(looks);
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
    }),
    reasons: () => given,
    open: () => waiting.size,
  };
}

const HEADERS_MAX = 100;

/** Signatures of the blocks up to `last` that the node still has. */
async function signaturesAt(node: NodeProcess, last: number): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  for (let from = 1; from <= last; from += HEADERS_MAX) {
    const to = Math.min(last, from + HEADERS_MAX - 1);
    const headers = (await node.get(`/blocks/headers/seq/${from}/${to}`)) as Seen[];
    for (const { height, signature } of headers) found.set(height, signature);
  }
  return found;
}

const SAMPLES = 100;

/** All of the newest, some of the older ones: their blocks are compared anyway. */
function sample(confirmed: ReadonlyMap<string, number>): [string, number][] {
  const all = [...confirmed];
  const step = Math.max(1, Math.floor(all.length / SAMPLES));
  return all.filter((_, i) => i % step === 0 || i >= all.length - SAMPLES);
}

/** Says of a transaction that it is in a block, which can be seen there. */
const IS_MINED = /is already in the state/;

/** Why transactions left the pool without being in a block, by id. */
function reasonsIn(logFile: string): Map<string, string> {
  const reasons = new Map<string, string>();
  for (const line of readFileSync(logFile, 'utf8').split('\n')) {
    if (!line.includes('pool.dropped')) continue;
    const { id, why } = JSON.parse(line) as { id?: string; why?: string };
    if (id !== undefined && !IS_MINED.test(why ?? '')) reasons.set(id, why ?? '');
  }
  return reasons;
}
