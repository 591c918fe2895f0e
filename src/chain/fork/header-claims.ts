/**
 * Checks the headers of a branch without their bodies: first against the headers before them, then
 * whose turn the first one is. A false claim must not cost more than this check: rolling back
 * hundreds of blocks reads all that they have changed.
 */
import type { Refusal } from '../../base/errors.ts';
import { type Block, blockId, checkVersion } from '../../block/block.ts';
import type { Header } from '../../block/header.ts';
import type { Consensus, Parent } from '../../consensus/consensus.ts';
import { consensusView } from '../apply/consensus-view.ts';
import type { Blockchain } from '../blockchain.ts';
import type { ChainWriter } from '../chain-writer.ts';
import { versionIn } from '../finality/finality-rules.ts';
import { type Tip, tipWith } from '../tip.ts';
import { BadBlock, ruleBroken } from './bad-block.ts';

export class HeaderClaims {
  private readonly blockchain: Blockchain;
  private readonly consensus: Consensus;
  private readonly depthMax: () => number;

  constructor(blockchain: Blockchain, consensus: Consensus, depthMax: () => number) {
    this.blockchain = blockchain;
    this.consensus = consensus;
    this.depthMax = depthMax;
  }

  /** Rejects with BadBlock. */
  async require(
    chain: ChainWriter,
    ancestor: Tip,
    branch: readonly { readonly block: Block }[],
  ): Promise<void> {
    let parent: Parent = ancestor;
    const earlier = new Map<number, Header>();
    const claims = consensusView(this.blockchain.view, earlier);
    for (const { block } of branch) {
      const { header } = block;
      const features = this.blockchain.featuresOfBranch(ancestor.height, parent.height + 1);
      const broken = ruleBroken(() => {
        if (features !== undefined) checkVersion(header, versionIn({ features }, header));
        this.consensus.verifyHeader(header, parent, claims);
      });
      if (broken !== undefined) throw new BadBlock(blockId(block), broken, true);
      parent = { height: parent.height + 1, header };
      earlier.set(parent.height, header);
    }
    const [first] = branch;
    const refusal = first && (await this.outOfTurn(chain, ancestor, first.block.header));
    if (refusal !== undefined) throw new BadBlock(blockId(first!.block), refusal, true);
  }

  /**
   * Why a block with this header would be refused. Undefined: there is no reason, or its parent is
   * unknown here.
   */
  async examine(header: Header): Promise<Refusal | undefined> {
    const { blockchain, consensus } = this;
    const ancestor = this.ancestorOf(header);
    if (ancestor === undefined) return undefined;
    const state = consensusView(blockchain.view);
    const features = blockchain.featuresAt(ancestor.height + 1);
    const broken = ruleBroken(() => {
      // A block of a version that is to come must not be relayed to nodes that cannot read it.
      checkVersion(header, versionIn({ features }, header));
      consensus.verifyHeader(header, ancestor, state);
    });
    if (broken !== undefined) return broken;
    if (ancestor.height === blockchain.tip().height) {
      return ruleBroken(() => consensus.verify(header, ancestor, state));
    }
    return blockchain.exclusive(async (chain) => {
      const stillThere = this.ancestorOf(header);
      return stillThere && this.outOfTurn(chain, stillThere, header);
    });
  }

  private async outOfTurn(
    chain: ChainWriter,
    ancestor: Tip,
    header: Header,
  ): Promise<Refusal | undefined> {
    const state = await chain.consensusAt(ancestor.height);
    return ruleBroken(() => this.consensus.verify(header, ancestor, state));
  }

  /** Undefined where the parent is not in this chain, or is deeper than a rollback may go. */
  private ancestorOf({ reference }: Header): Tip | undefined {
    const { blockchain } = this;
    const ancestor = tipWith(reference, blockchain.view);
    if (ancestor === undefined) return undefined;
    const depth = blockchain.tip().height - ancestor.height;
    return depth > 0 && depth > this.depthMax() ? undefined : ancestor;
  }
}
