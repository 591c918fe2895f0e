/**
 * What must hold in a simulation, after every commit and at its end. The first broken rule ends the
 * simulation.
 */
import { base58 } from '../../src/base/base58.ts';
import { compare, latin1 } from '../../src/base/bytes.ts';
import { brokenByBlock, initialBalance } from '../../src/chain/audit.ts';
import { blockAt, confirmedHeight, headerRowAt } from '../../src/chain/stored-blocks.ts';
import { brokenInvariants } from '../../src/ledger/invariants.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { POOL_BYTES_MAX, ROLLBACK_MAX, type SimNode } from './node.ts';
import { chain } from './settings.ts';

export class Broken extends Error {}

const FULL_CHECK_EVERY = 50;

export class Checkers {
  /** Block id → state hash after it, whoever computed it. */
  private readonly hashes = new Map<string, string>();
  private readonly accepted: { readonly by: string; readonly tx: Tx }[] = [];
  private commits = 0;
  /** Deepest reorganisation so far. */
  depthMax = 0;
  reorganisations = 0;

  watch(node: SimNode): void {
    const { blockchain } = node;
    const initial = initialBalance(blockchain);
    let height = blockchain.tip().height;
    let unwound = false;
    blockchain.listen({
      rolledBack: () => {
        unwound = true;
        this.reorganisations++;
      },
      block: ({ tip, block }) => {
        this.commits++;
        const broken = brokenByBlock(block.overlay.changes());
        if (broken.length > 0) this.fail(node, broken.join('; '));
        this.sameHash(node, tip.id, tip.height);
        if (unwound) {
          const depth = height - tip.height + 1;
          this.depthMax = Math.max(this.depthMax, depth);
          if (depth > ROLLBACK_MAX) this.fail(node, `a reorganisation of ${depth} blocks`);
        }
        unwound = false;
        height = blockchain.tip().height;
        if (node.pool.bytes() > POOL_BYTES_MAX) this.fail(node, 'the pool is too big');
        if (this.commits % FULL_CHECK_EVERY !== 0) return;
        const all = brokenInvariants(blockchain.view, initial);
        if (all.length > 0) this.fail(node, all.join('; '));
      },
    });
  }

  noteAccepted(node: SimNode, tx: Tx): void {
    this.accepted.push({ by: node.owner.name, tx });
  }

  get acceptedCount(): number {
    return this.accepted.length;
  }

  private sameHash(node: SimNode, id: Uint8Array, height: number): void {
    const hash = node.blockchain.stateHash(height);
    if (hash === undefined) this.fail(node, `no state hash at ${height}`);
    const key = latin1(id);
    const text = latin1(hash);
    const known = this.hashes.get(key);
    if (known === undefined) this.hashes.set(key, text);
    else if (known !== text) this.fail(node, `another state after block ${height} than others`);
  }

  /** After a time without faults all nodes have one chain. */
  converged(nodes: readonly SimNode[]): void {
    const heights = nodes.map(({ blockchain }) => blockchain.tip().height);
    const common = Math.min(...heights) - 1;
    const ids = nodes.map(
      ({ blockchain }) => headerRowAt(blockchain.view, common)?.header.signature,
    );
    for (const [i, id] of ids.entries()) {
      const first = ids[0];
      if (id !== undefined && first !== undefined && compare(id, first) === 0) continue;
      this.fail(nodes[i]!, `another chain than the first node at ${common}: ${heights.join(' ')}`);
    }
    if (Math.max(...heights) - Math.min(...heights) > 1) {
      this.fail(nodes[0]!, `heights ${heights.join(' ')} long after healing`);
    }
  }

  /** Nothing that was accepted is lost without a word. */
  nothingLost(nodes: readonly SimNode[], refused: ReadonlyMap<string, ReadonlySet<string>>): void {
    for (const { by, tx } of this.accepted) {
      const node = nodes.find(({ owner }) => owner.name === by);
      if (node === undefined) continue;
      const isKnown =
        confirmedHeight(node.blockchain.view, tx.id) !== undefined ||
        node.pool.get(tx.id) !== undefined ||
        refused.get(by)?.has(latin1(tx.id)) === true;
      if (!isKnown) this.fail(node, `${tx.def.name} ${base58.encode(tx.id)} is lost`);
    }
  }

  /** Blocks taken back and applied again leave the same rows. */
  async undoIsIdentity(node: SimNode, blocks: number): Promise<void> {
    const { blockchain, forkChoice } = node;
    const { height } = blockchain.tip();
    const to = Math.max(1, height - blocks);
    const taken = [];
    for (let at = to + 1; at <= height; at++) taken.push(blockAt(blockchain.view, at)!);
    const before = rowsOf(node);
    await blockchain.rollback(to);
    const verdict = await forkChoice.adopt(await Promise.all(taken.map(forkChoice.check)));
    if (verdict.kind !== 'adopted') this.fail(node, `own blocks are ${verdict.kind}`);
    if (rowsOf(node) !== before) this.fail(node, `undo of ${height - to} blocks left a trace`);
  }

  private fail(node: SimNode, why: string): never {
    throw new Broken(`${node.owner.name}: ${why}`);
  }
}

const rowsOf = ({ disk }: SimNode): string =>
  latin1(
    chain.fastHash(
      Buffer.from(
        disk.store
          .dump()
          .map(({ table, key, value }) => `${table} ${latin1(key)} ${latin1(value!)}`)
          .join('\n'),
        'latin1',
      ),
    ),
  );
