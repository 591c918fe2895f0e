/**
 * A chain that is computed instead of stored: every block follows from its height and from the
 * branch that the chain has there. So it may be as long as a test needs, be reorganised, and be
 * served by one process while another one is killed.
 */
import { createHash } from 'node:crypto';
import { base58 } from '../../src/base/base58.ts';
import { utf8 } from '../../src/base/bytes.ts';

export interface MadeChain {
  height(): number;
  /** Adds blocks to the end. */
  grow(blocks: number): void;
  /** Replaces the last blocks by others, of another branch. */
  reorganise(depth: number, blocks?: number): void;
  /** As a node shows it. */
  block(height: number): Record<string, unknown> | undefined;
  signature(height: number): string;
  /** The JSON of a block, where it was printed before. */
  printed?(height: number): string | undefined;
  /** Address → amount in native coins; the same at all heights. */
  balance(address: string): number;
  /** Assets of an address; absent: none. */
  assets?(address: string): readonly { assetId: string; balance: number }[];
}

export interface MadeChainOptions {
  readonly seed: string;
  readonly txsPerBlock: number;
  readonly accounts?: number;
}

const GENESIS_TIME = 1_600_000_000_000;
const BLOCK_MS = 10_000;
const ASSET_EVERY = 10;
export const ROLES = ['miner', 'permissioner', 'dex'];
const WORDS = ['invoice', 'rent', 'salary', 'refund', 'café', 'договор', 'delivery', 'tax'];

export function madeChain({ seed, txsPerBlock, accounts = 200 }: MadeChainOptions): MadeChain {
  const branches: number[] = [0, 0];
  let branch = 0;
  const id = (...of: (string | number)[]): string =>
    base58.encode(
      createHash('sha256')
        .update(`${seed} ${of.join(' ')}`)
        .digest(),
    );
  const people = Array.from({ length: accounts }, (_, i) => `3M${id('account', i).slice(0, 33)}`);
  const keys = people.map((_, i) => id('key', i));
  const at = (height: number) => `${height}.${branches[height]}`;
  const signature = (height: number): string => id('block', at(height)) + id('again', at(height));
  const txId = (height: number, i: number): string => id('tx', at(height), i);

  function transaction(height: number, i: number): Record<string, unknown> {
    const mix = height * 31 + i * 17 + (branches[height] ?? 0) * 7;
    const from = mix % accounts;
    const to = (mix * 3 + 1) % accounts;
    const shared = {
      id: txId(height, i),
      sender: people[from],
      senderPublicKey: keys[from],
      fee: 100_000 + (mix % 5),
      timestamp: GENESIS_TIME + height * BLOCK_MS - 1000 + i,
      proofs: [id('proof', at(height), i)],
      version: 2,
    };
    const assetHeight = height - (height % ASSET_EVERY);
    const assetId = assetHeight > 1 && assetHeight < height ? txId(assetHeight, 0) : undefined;
    const details = detailsOf(height, i, mix, { to: people[to]!, assetId: assetId ?? null });
    return { ...shared, ...details, height };
  }

  function detailsOf(
    height: number,
    i: number,
    mix: number,
    { to, assetId }: { to: string; assetId: string | null },
  ): Record<string, unknown> {
    if (i === 0 && height % ASSET_EVERY === 0) {
      return {
        type: 3,
        name: `Token ${height}`,
        description: `branch ${branches[height]}`,
        quantity: 1_000_000 + height,
        decimals: 2,
        reissuable: true,
      };
    }
    const kind = mix % 20;
    if (kind === 1 && assetId !== null) {
      return { type: 5, assetId, quantity: 50, reissuable: mix % 3 !== 0 };
    }
    if (kind === 2 && assetId !== null) return { type: 6, assetId, amount: 7 };
    if (kind === 3) return { type: 10, alias: `name-${height}-${i}` };
    if (kind === 4) {
      const transfers = [
        { recipient: to, amount: mix },
        { recipient: people[(mix + 5) % accounts], amount: 2 },
      ];
      return { type: 11, assetId, transfers, attachment: '' };
    }
    if (kind === 5 || kind === 6) {
      const data = [
        { key: `key ${mix % 50}`, type: 'integer', value: mix },
        { key: 'path/to%', type: 'string', value: WORDS[mix % WORDS.length] },
        { key: `flag ${i}`, type: 'boolean', value: mix % 2 === 0 },
      ];
      return { type: 12, author: people[mix % accounts], data };
    }
    if (kind === 7) {
      const opType = mix % 3 === 0 ? 'remove' : 'add';
      return { type: 102, target: to, opType, role: ROLES[mix % 3], dueTimestamp: null };
    }
    const text = `${WORDS[mix % WORDS.length]} ${mix}`;
    return { type: 4, recipient: to, assetId, amount: mix, attachment: base58.encode(utf8(text)) };
  }

  function block(height: number): Record<string, unknown> | undefined {
    if (height < 1 || height >= branches.length) return undefined;
    const timestamp = GENESIS_TIME + height * BLOCK_MS;
    const genesis = people.slice(0, 5).map((recipient, i) => ({
      type: 1,
      id: txId(1, i),
      fee: 0,
      timestamp,
      signature: txId(1, i),
      recipient,
      amount: 10_000_000_000,
      height,
    }));
    const count = height % 7 === 0 ? 0 : txsPerBlock;
    const transactions =
      height === 1 ? genesis : Array.from({ length: count }, (_, i) => transaction(height, i));
    return {
      version: 3,
      timestamp,
      reference: height === 1 ? id('nothing') : signature(height - 1),
      coreconsensus: { basetarget: 0, generationsignature: '' },
      'poa-consensus': { 'overall-skipped-rounds': height },
      features: [],
      generator: people[height % 4],
      signature: signature(height),
      blocksize: 500 + transactions.length,
      transactionCount: transactions.length,
      fee: transactions.length * 100_000,
      height,
      transactions,
    };
  }

  return {
    height: () => branches.length - 1,
    grow(blocks) {
      for (let i = 0; i < blocks; i++) branches.push(branch);
    },
    reorganise(depth, blocks = depth) {
      branch++;
      branches.length = Math.max(2, branches.length - depth);
      this.grow(blocks);
    },
    block,
    signature,
    balance: (address) => people.indexOf(address) * 1000 + 5,
  };
}
