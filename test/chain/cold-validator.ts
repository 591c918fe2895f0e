/**
 * A node that has nothing but the bytes of blocks: no pool, no verdicts, no signatures checked in
 * advance, and nothing in common with the nodes that made or took them. It judges each block once, on
 * the state that its own chain has after the parent, and makes each check where a rule asks for it.
 *
 * Each branch of the fork tree has a chain of its own, as a copy of another one that is rolled back to
 * the fork.
 */
import { base58 } from '../../src/base/base58.ts';
import { latin1 } from '../../src/base/bytes.ts';
import { ApiError } from '../../src/base/errors.ts';
import type { Verifier } from '../../src/base/ports/verifier.ts';
import { type Block, blockId, decodeBlock, signedBytes } from '../../src/block/block.ts';
import type { AppliedBlock } from '../../src/chain/apply/block-applier.ts';
import { decodeTransactions } from '../../src/chain/apply/verify-block.ts';
import type { Blockchain } from '../../src/chain/blockchain.ts';
import type { ChainWriter } from '../../src/chain/chain-writer.ts';
import { UncommittedBlocks } from '../../src/chain/import/uncommitted-blocks.ts';
import { heightOf } from '../../src/chain/store/stored-blocks.ts';
import { type ChainScheme, CodecError } from '../../src/codec/codec.ts';
import { endlessSlice } from '../../src/concurrency/time-slice.ts';
import type { Config } from '../../src/node/config/settings.ts';
import { openBlockchain } from '../../src/node/open-blockchain.ts';
import { unchecked } from '../../src/tx/proof-verdicts.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { createMemoryStore, type MemoryStore } from '../simulated/memory-store.ts';
import { quiet, testClock } from './chain-harness.ts';

export interface Judged {
  readonly id: Uint8Array;
  readonly height: number;
  /** After the block. */
  readonly stateHash: Uint8Array;
}

/** The block breaks a rule; the message names its height, the transaction and the reason. */
export class RefusedBlock extends Error {}

export interface ColdNetwork {
  readonly config: Config;
  readonly genesis: Block;
  readonly scheme: ChainScheme;
}

/** For chains that check nothing in advance but the votes that a block carries. */
export const votesAlone = (scheme: ChainScheme): Verifier => ({
  ...nobodyAsks,
  verify: async (checks) =>
    checks.map(({ publicKey, message, signature }) => scheme.verify(publicKey, message, signature)),
});

/** For chains that check nothing in advance. */
export const nobodyAsks: Verifier = {
  verifyOne: () => Promise.reject(new Error('nothing is checked in advance')),
  verify: () => Promise.reject(new Error('nothing is checked in advance')),
  close: async () => undefined,
};

/** Chains that are open at a time; another one grows again from the blocks that were judged. */
const BRANCHES_MAX = 4;

interface Branch {
  readonly store: MemoryStore;
  readonly blockchain: Blockchain;
  readonly clock: ReturnType<typeof testClock>;
}

export class ColdValidator {
  private readonly network: ColdNetwork;
  /** By the hash of their bytes. */
  private readonly verdicts = new Map<string, Promise<Judged>>();
  /** By their ids. */
  private readonly blocks = new Map<string, Block>();
  /** The one that was used last is the last one. */
  private branches: Branch[] = [];
  private running: Promise<unknown> = Promise.resolve();

  constructor(network: ColdNetwork) {
    this.network = network;
  }

  /** The number of different blocks that were judged. */
  get count(): number {
    return this.verdicts.size;
  }

  /**
   * Rejects with RefusedBlock where the block breaks a rule, or where its parent is neither the genesis
   * block nor one that was judged.
   */
  judge(bytes: Uint8Array): Promise<Judged> {
    const key = latin1(this.network.scheme.fastHash(bytes));
    const known = this.verdicts.get(key);
    if (known !== undefined) return known;
    const verdict = this.running.then(() => this.judgeNext(bytes.slice()));
    this.running = verdict.catch(() => undefined);
    this.verdicts.set(key, verdict);
    return verdict;
  }

  private async judgeNext(bytes: Uint8Array): Promise<Judged> {
    const block = this.decoded(bytes);
    const branch = await this.branchAt(block.header.reference);
    await this.append(branch, block);
    this.blocks.set(latin1(blockId(block)), block);
    const { id, height } = branch.blockchain.tip();
    return { id, height, stateHash: branch.blockchain.stateHash(height)! };
  }

  private decoded(bytes: Uint8Array): Block {
    try {
      return decodeBlock(bytes, this.network.scheme);
    } catch (error) {
      if (error instanceof CodecError) throw new RefusedBlock(`no block: ${error.message}`);
      throw error;
    }
  }

  private append({ blockchain, clock }: Branch, block: Block): Promise<void> {
    clock.time = block.header.timestamp;
    return appendCold(blockchain, block);
  }

  /** A chain whose tip is this block. */
  private async branchAt(id: Uint8Array): Promise<Branch> {
    const tail: Block[] = [];
    for (let at = id; ; ) {
      const branch = await this.opened(at);
      if (branch !== undefined) {
        for (const block of tail.reverse()) await this.append(branch, block);
        return branch;
      }
      const block = this.blocks.get(latin1(at));
      if (block === undefined) throw new RefusedBlock(`nobody knows ${base58.encode(at)}`);
      tail.push(block);
      at = block.header.reference;
    }
  }

  /** The chain that ends here, or one that is made of a longer one. */
  private async opened(id: Uint8Array): Promise<Branch | undefined> {
    if (this.branches.length === 0) this.keep(await this.open());
    const longer = this.branches.filter(
      ({ blockchain }) => heightOf(blockchain.view, id) !== undefined,
    );
    const here = longer.find(({ blockchain }) => latin1(blockchain.tip().id) === latin1(id));
    if (here !== undefined) return this.keep(here);
    const source = longer.at(-1);
    if (source === undefined) return undefined;
    const branch = await this.open(source.store);
    await branch.blockchain.rollback(heightOf(branch.blockchain.view, id)!);
    return this.keep(branch);
  }

  private keep(branch: Branch): Branch {
    this.branches = [...this.branches.filter((one) => one !== branch), branch].slice(-BRANCHES_MAX);
    return branch;
  }

  private async open(source?: MemoryStore): Promise<Branch> {
    const { config, genesis, scheme } = this.network;
    const store = createMemoryStore({ rows: source?.dump() ?? [] });
    const clock = testClock(genesis.header.timestamp);
    const ports = { scheme, store, verifier: votesAlone(this.network.scheme), clock, log: quiet };
    return { store, clock, ...(await openBlockchain(config, genesis, ports)) };
  }
}

/**
 * Appends the block to a chain that ends with its parent. Rejects with RefusedBlock, and then the chain
 * stays.
 */
export async function appendCold(blockchain: Blockchain, block: Block): Promise<void> {
  const { scheme } = blockchain.view;
  const { generator, signature } = block.header;
  const where = `block ${blockchain.tip().height + 1}, ${base58.encode(signature)}`;
  if (!scheme.verify(generator, signedBytes(block, scheme), signature)) {
    throw new RefusedBlock(`${where}: its generator has not signed it`);
  }
  const txs = await decodeTransactions(block, scheme, endlessSlice).catch((error) =>
    refuse(where, error),
  );
  await blockchain.exclusive(async (chain) => {
    try {
      await chain.commit([await applied(chain, blockchain, block, txs)]);
    } catch (error) {
      const culprit = await culpritOf(chain, blockchain, block, txs);
      refuse(culprit === undefined ? where : `${where}, ${culprit}`, error);
    }
  });
}

function refuse(where: string, error: unknown): never {
  if (error instanceof ApiError) throw new RefusedBlock(`${where}: ${error.message}`);
  throw error;
}

/** The block on top of the chain, or the beginning of it that holds these transactions. */
const applied = (
  chain: ChainWriter,
  { view }: Blockchain,
  block: Block,
  txs: readonly Tx[],
): Promise<AppliedBlock> =>
  chain.apply(
    view,
    chain.tip(),
    { block, txs, verdicts: txs.map(unchecked) },
    new UncommittedBlocks(),
  );

/** The last transaction of the shortest beginning that is refused. */
async function culpritOf(
  chain: ChainWriter,
  blockchain: Blockchain,
  block: Block,
  txs: readonly Tx[],
): Promise<string | undefined> {
  for (let count = 0; count <= txs.length; count++) {
    const isGood = await applied(chain, blockchain, block, txs.slice(0, count)).then(
      () => true,
      () => false,
    );
    if (isGood) continue;
    const tx = txs[count - 1];
    return tx && `transaction ${count} of ${txs.length}, ${tx.def.name} ${base58.encode(tx.id)}`;
  }
  return undefined;
}
