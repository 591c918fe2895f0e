/**
 * Applies blocks to overlays, with every check that needs the state. Commits nothing.
 */
import { assert } from '../../base/assert.ts';
import { equal } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import type { Histogram } from '../../base/ports/metrics.ts';
import type { Verifier } from '../../base/ports/verifier.ts';
import { type Block, checkLimits, limitsOf } from '../../block/block.ts';
import type { Header } from '../../block/header.ts';
import type { HeaderRow } from '../../block/header-row.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { TimeSlice } from '../../concurrency/time-slice.ts';
import type { Consensus } from '../../consensus/consensus.ts';
import type { KeyedView } from '../../ledger/committed-view.ts';
import type { KeyedOverlay } from '../../ledger/overlay.ts';
import { scripts } from '../../ledger/tables.ts';
import { unchecked } from '../../tx/proof-verdicts.ts';
import type { ChainRules } from '../../tx/rules/chain-rules.ts';
import { feature, requireFeature } from '../../tx/rules/features.ts';
import type { BlockContext, Tx } from '../../tx/transaction.ts';
import {
  type FeatureSupport,
  requireKnownFeatures,
  type VotingSettings,
} from '../features/feature-activation.ts';
import { FinalityRules, versionIn } from '../finality/finality-rules.ts';
import type { UncommittedBlocks } from '../import/uncommitted-blocks.ts';
import type { Tip } from '../tip.ts';
import { type BlockDraft, openDraft } from './block-draft.ts';
import { consensusView } from './consensus-view.ts';
import type { ScriptTime } from './script-time.ts';
import type { TxsById } from './txs-by-id.ts';
import type { ReplayedBlock, VerifiedBlock } from './verify-block.ts';

export interface ApplierOptions {
  readonly rules: ChainRules & VotingSettings;
  readonly consensus: Consensus;
  /** The features for which this node votes in its blocks. */
  readonly support: FeatureSupport;
  /** The most bytes of all transactions of a block (H-4: constants of the network). */
  readonly transactionBytesMax: number;
}

export interface ApplierPorts {
  readonly scheme: ChainScheme;
  readonly slice: TimeSlice;
  /** Checks the votes that a block carries. */
  readonly verifier: Pick<Verifier, 'verify'>;
  /** The duration of the transactions of a block. */
  readonly duration: Histogram | undefined;
}

export interface AppliedBlock {
  readonly height: number;
  readonly row: HeaderRow;
  readonly txs: readonly Tx[];
  readonly ids: TxsById;
  readonly overlay: KeyedOverlay;
}

export class BlockApplier {
  private readonly options: ApplierOptions;
  private readonly ports: ApplierPorts;
  private readonly finality: FinalityRules;

  constructor(options: ApplierOptions, ports: ApplierPorts) {
    this.options = options;
    this.ports = ports;
    this.finality = new FinalityRules(options.rules, ports.verifier);
  }

  /**
   * Opens a draft of the block after `parent`; only a block in the making has a `scriptTime`. Throws
   * ApiError where a feature is unknown, or where the generator has a script.
   */
  draftOn(
    base: KeyedView,
    parent: Tip,
    header: { readonly timestamp: number; readonly generator: Uint8Array },
    uncommitted: UncommittedBlocks,
    scriptTime?: ScriptTime,
  ): BlockDraft {
    const { rules, consensus, support } = this.options;
    const { scheme, slice } = this.ports;
    const { timestamp } = header;
    const generator = scheme.addressOf(header.generator);
    this.requireUnscripted(base, generator);
    const draft = openDraft({
      base,
      parent,
      timestamp,
      generator,
      rules,
      consensus,
      uncommitted,
      slice,
      scriptTime,
    });
    requireKnownFeatures(draft.context.features, support);
    return draft;
  }

  /** Throws ApiError where the block breaks a rule. */
  async apply(
    base: KeyedView,
    parent: Tip,
    { block, txs, verdicts }: VerifiedBlock | ReplayedBlock,
    uncommitted: UncommittedBlocks,
  ): Promise<AppliedBlock> {
    const { header } = block;
    const { consensus, transactionBytesMax } = this.options;
    const { slice, duration } = this.ports;
    if (!equal(header.reference, parent.id)) {
      throw apiError('Invalid', 'Broadcast block is not a child of the last block');
    }
    const draft = this.draftOn(base, parent, header, uncommitted);
    const isActive = (id: number): boolean => draft.context.features.has(id);
    checkLimits(block, limitsOf(transactionBytesMax, isActive), versionIn(draft.context, header));
    requireClaims(header, draft.context);
    consensus.verify(header, parent, consensusView(base, uncommitted.headers));
    await this.finality.judge(header, parent, base, uncommitted.headers, verdicts === undefined);
    const measured = duration?.start();
    const { length } = verdicts ?? txs;
    assert(length === txs.length, 'each transaction has its verdicts');
    for (let i = 0; i < length; i++) {
      if (verdicts === undefined) draft.replay(txs[i]!);
      else draft.add(txs[i]!, verdicts[i]!);
      if (slice.isOver()) await slice.yield();
    }
    measured?.();
    return this.finish(draft, parent, block, uncommitted);
  }

  /** Applies the genesis block, which has no parent and no proofs. */
  async applyGenesis(base: KeyedView, block: Block, txs: readonly Tx[]): Promise<AppliedBlock> {
    const { rules, consensus } = this.options;
    const { timestamp } = block.header;
    const generator = this.ports.scheme.addressOf(block.header.generator);
    const draft = openDraft({ base, parent: undefined, timestamp, generator, rules, consensus });
    for (const tx of txs) draft.add(tx, unchecked(tx));
    return this.finish(draft, undefined, block);
  }

  /** Ends a draft that contains all transactions of the block. */
  async finish(
    draft: BlockDraft,
    parent: Tip | undefined,
    block: Block,
    uncommitted?: UncommittedBlocks,
  ): Promise<AppliedBlock> {
    const fee = await draft.finish(block.header);
    this.finality.leave(draft, block.header, uncommitted?.headers);
    return {
      height: draft.context.height,
      overlay: draft.overlay,
      txs: draft.txs,
      ids: draft.ids,
      row: {
        header: block.header,
        blockSize: block.bytes.length,
        transactionCount: draft.txs.length,
        fee,
        score: (parent?.score ?? 0n) + this.options.consensus.score(block.header.consensus),
      },
    };
  }

  private requireUnscripted(base: KeyedView, generator: Uint8Array): void {
    if (base.get(scripts, generator) === undefined) return;
    const account = this.ports.scheme.addressToText(generator);
    throw apiError(
      'Invalid',
      `Account '${account}' is scripted are therefore not allowed to forge blocks`,
    );
  }
}

/** Throws ApiError where the block claims turns before that is a rule of the network. */
function requireClaims({ consensus }: Header, context: Pick<BlockContext, 'features'>): void {
  if (consensus.kind !== 'poa' || consensus.claims === undefined) return;
  requireFeature(feature.lostBlocks, 'turn claims', context);
}
