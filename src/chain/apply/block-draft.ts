/**
 * A block that is being built: its transactions are applied one after the other to an overlay. A
 * miner fills a draft from its pool; a node that checks a block repeats it in a draft. Both call
 * the same `finish`, so that a block has the same effects on its generator and on the nodes that
 * check it.
 */
import { latin1Part } from '../../base/bytes.ts';
import { ApiError } from '../../base/errors.ts';
import type { TimeSlice } from '../../concurrency/time-slice.ts';
import { encodeBanHistory } from '../../consensus/ban-history.ts';
import type { Consensus, JudgedHeader, Parent } from '../../consensus/consensus.ts';
import { recordHistory } from '../../ledger/balance-history.ts';
import type { KeyedView } from '../../ledger/committed-view.ts';
import { createOverlay, type KeyedOverlay } from '../../ledger/overlay.ts';
import { accountHistory, assetHistory, bans } from '../../ledger/tables.ts';
import {
  applyTransaction,
  applyUnjudged,
  blockContext,
  type Knowledge,
} from '../../tx/pipeline.ts';
import type { ProofVerdicts } from '../../tx/proof-verdicts.ts';
import { closeBlock, openBlock } from '../../tx/rules/block-fees.ts';
import type { ChainRules } from '../../tx/rules/chain-rules.ts';
import { feature } from '../../tx/rules/features.ts';
import type { BlockContext, Tx } from '../../tx/transaction.ts';
import { countVotes, type VotingSettings } from '../features/feature-activation.ts';
import type { UncommittedBlocks } from '../import/uncommitted-blocks.ts';
import { ID_PREFIX_BYTES } from '../store/block-index.ts';
import { candidateUnder, confirmedHeight } from '../store/stored-blocks.ts';
import { BlockScripts, type ScriptsTaken } from './block-scripts.ts';
import { consensusView } from './consensus-view.ts';
import { type GroupInWork, groupOn } from './group-in-work.ts';
import type { ScriptTime } from './script-time.ts';
import { TxsById } from './txs-by-id.ts';

export interface DraftOptions {
  /** The state at the parent. */
  readonly base: KeyedView;
  /** Undefined for the genesis block. */
  readonly parent: Parent | undefined;
  readonly timestamp: number;
  /** Address of the generator. */
  readonly generator: Uint8Array;
  readonly rules: ChainRules & VotingSettings;
  readonly consensus: Consensus;
  /** The blocks between the committed head and the parent. */
  readonly uncommitted?: UncommittedBlocks;
  readonly slice?: TimeSlice;
  /** Ends the runs of scripts early; only a block of this node has it. */
  readonly scriptTime?: ScriptTime | undefined;
}

export interface BlockDraft {
  readonly context: BlockContext & { readonly generator: Uint8Array };
  readonly overlay: KeyedOverlay;
  readonly txs: readonly Tx[];
  readonly ids: TxsById;
  /** Applies a transaction. Throws ApiError, and then leaves the draft as it was. */
  add(tx: Tx, verdicts: ProofVerdicts): void;
  /** The same for a block that this node has verified before: signatures are not judged. */
  replay(tx: Tx): void;
  /**
   * Throws ApiError where the draft refuses what a transaction executes, before its results are
   * known; changes nothing.
   */
  check(executable: Tx, verdicts: ProofVerdicts): void;
  /** Nothing else may change the draft before the end of the group. */
  group(): GroupInWork;
  /** Grows also by what the draft refuses. */
  readonly scriptsTried: () => ScriptsTaken;
  /** True for a transaction of the draft or of a block before it. */
  has(id: Uint8Array): boolean;
  /**
   * Applies the effects of the block as a whole: fees, bans, votes and history. Returns the native
   * fees.
   */
  finish(header: JudgedHeader & { readonly features: readonly number[] }): Promise<bigint>;
}

/** The block takes no more of its kind; a later block may. */
export const isBlockFull = (cause: unknown): boolean =>
  cause instanceof ApiError && cause.entry === 'BlockFull';

/** Each block writes rows of its own height, so there are no older ones to read. */
const NEVER_WRITTEN_BEFORE: ReadonlySet<number> = new Set([accountHistory.id, assetHistory.id]);

export function openDraft(options: DraftOptions): BlockDraft {
  const { base, parent, timestamp, generator, rules, consensus, uncommitted, scriptTime } = options;
  const height = (parent?.height ?? 0) + 1;
  const parentTimestamp = parent?.header.timestamp ?? timestamp;
  const context = {
    ...blockContext(base, rules, { height, timestamp, parentTimestamp, generator }),
    generator,
  };
  const { generator: _, ...withoutResult } = context;
  const overlay = createOverlay(base, NEVER_WRITTEN_BEFORE);
  const fees = openBlock(overlay, context);
  const txs: Tx[] = [];
  const textOf = rememberingText();
  const own = new TxsById(txs, textOf);
  const scripts = new BlockScripts(context.features.has(feature.scriptMetering), scriptTime);

  const known = knowledgeOf(options, height, own, textOf, scripts);

  function note(tx: Tx, fee: bigint): void {
    fees.add(fee);
    uncommitted?.note(tx);
    txs.push(tx);
  }

  return {
    context,
    overlay,
    txs,
    ids: own,
    add(tx, verdicts) {
      const taken = scripts.save();
      try {
        note(tx, applyTransaction(tx, verdicts, overlay, context, known));
      } catch (cause) {
        scripts.restore(taken);
        throw cause;
      }
    },
    replay: (tx) => note(tx, applyUnjudged(tx, overlay, context, known)),
    check(executable, verdicts) {
      const mark = overlay.mark();
      const taken = scripts.save();
      try {
        applyTransaction(executable, verdicts, overlay, withoutResult, known);
      } finally {
        scripts.restore(taken);
      }
      overlay.revert(mark);
    },
    group: () => groupOn(overlay, context, withoutResult, known),
    scriptsTried: () => scripts.tried,
    has: (id) => known.heightOf(id) !== undefined,
    async finish(header) {
      closeBlock(overlay, context, fees);
      if (parent !== undefined) {
        const view = consensusView(base, uncommitted?.headers);
        for (const { address, history } of consensus.finish(header, parent, view)) {
          if (history === undefined) overlay.remove(bans, address);
          else overlay.set(bans, address, encodeBanHistory(history, base.scheme));
        }
      }
      countVotes(overlay, height, header.features, rules);
      await recordHistory(overlay, height, options.slice);
      return fees.sum;
    },
  };
}

/** What is known of earlier transactions, those of the draft included. */
function knowledgeOf(
  { base, uncommitted }: DraftOptions,
  height: number,
  own: TxsById,
  textOf: (id: Uint8Array) => string,
  scripts: BlockScripts,
): Knowledge {
  return {
    heightOf(id) {
      if (uncommitted?.isNew(id)) return undefined;
      // Before the next text is made, since only the latest is remembered.
      own.update();
      const text = textOf(id);
      return own.find(text) !== undefined
        ? height
        : (uncommitted?.heightOf(text) ?? confirmedHeight(base, id));
    },
    find(id) {
      const text = textOf(id);
      const found = own.findAt(text, height) ?? uncommitted?.find(text);
      if (found === undefined) return candidateUnder(base, id);
      return { height: found.height, size: found.size, tx: () => found.tx };
    },
    scripts,
  };
}

/**
 * The text of an id that is asked for twice, when it is looked up and when it is added. It is that
 * of the bytes by which the store finds transactions, so that all blocks answer alike.
 */
function rememberingText(): (id: Uint8Array) => string {
  let last: Uint8Array | undefined;
  let text = '';
  return (id) => {
    if (id !== last) {
      text = latin1Part(id, 0, ID_PREFIX_BYTES);
      last = id;
    }
    return text;
  };
}
