/**
 * Shows every block that a node makes, adopts or finds on its disk to one cold validator, which judges
 * it from its bytes. No node of a simulation may have a block that such a validator refuses, or another
 * state after it.
 */
import { latin1 } from '../../../src/base/bytes.ts';
import { blockId } from '../../../src/block/block.ts';
import { blockAt } from '../../../src/chain/store/stored-blocks.ts';
import { createChainScheme } from '../../../src/crypto/chain-scheme.ts';
import type { Config } from '../../../src/node/config/settings.ts';
import { family, scheme } from '../../chain/chain-harness.ts';
import { ColdValidator, RefusedBlock } from '../../chain/cold-validator.ts';
import { Broken, type Checkers } from './checkers.ts';
import type { Ground, SimNode } from './node.ts';

export interface ColdPorts {
  readonly config: Config;
  readonly genesis: Ground['genesis'];
  readonly checkers: Pick<Checkers, 'sameHash'>;
  readonly fail: (error: unknown) => void;
}

export class ColdWatch {
  private readonly ports: ColdPorts;
  private readonly cold: ColdValidator;
  /** Ids of the blocks that were shown, the first one of the chain among them. */
  private readonly shown = new Set<string>();
  private last: Promise<void> = Promise.resolve();

  constructor(ports: ColdPorts) {
    const { config, genesis } = ports;
    this.ports = ports;
    // A scheme remembers what it has read, such as scripts.
    const own = createChainScheme(family, scheme.chainId);
    this.cold = new ColdValidator({ config, genesis, scheme: own });
    this.shown.add(latin1(blockId(genesis)));
  }

  /** The number of different blocks that were judged. */
  get count(): number {
    return this.cold.count;
  }

  /** All blocks on its disk, and each one that comes. */
  watch(node: SimNode): void {
    const { blockchain } = node;
    const { view } = blockchain;
    const { height } = blockchain.tip();
    let from = height;
    while (!this.shown.has(latin1(blockId(blockAt(view, from)!)))) from--;
    for (let at = from + 1; at <= height; at++) this.show(node, at);
    blockchain.listen({ block: ({ tip }) => this.show(node, tip.height) });
  }

  /** Resolves when all that was shown is judged. */
  idle(): Promise<void> {
    return this.last;
  }

  private show(node: SimNode, height: number): void {
    const block = blockAt(node.blockchain.view, height)!;
    this.shown.add(latin1(blockId(block)));
    this.last = this.judge(node.name, block.bytes);
  }

  private async judge(name: string, bytes: Uint8Array): Promise<void> {
    const { checkers, fail } = this.ports;
    try {
      const { id, height, stateHash } = await this.cold.judge(bytes);
      checkers.sameHash('a cold validator', id, height, stateHash);
    } catch (error) {
      if (!(error instanceof RefusedBlock)) fail(error);
      else fail(new Broken(`${name} has what a cold validator refuses: ${error.message}`));
    }
  }
}
