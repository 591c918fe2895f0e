/**
 * The rules of blocks in a chain with finality (finality.md#blocks, #votes, #voters): their version, what
 * they are bound to, the justification that one carries, and the voters that it leaves.
 *
 * They hold under proof of authority. Under proof of stake the feature has no effect.
 */
import { equal, latin1 } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import type { Verifier } from '../../base/ports/verifier.ts';
import {
  BLOCK_VERSION,
  type BlockVersion,
  BOUND_VERSION,
  boundOf,
  type Header,
  headerHash,
  type UnsignedHeader,
} from '../../block/header.ts';
import { type ChainScheme, CodecError } from '../../codec/codec.ts';
import { checksInChain, requireSignatures } from '../../finality/carried.ts';
import { decodeJustification, type Justification } from '../../finality/proofs/justification.ts';
import { rules as finalityRules } from '../../finality/rules.ts';
import {
  type Electorate,
  entitledVoters,
  voterSetsAfter,
  voterSetsOfRoot,
} from '../../finality/votes/entitled-voters.ts';
import { makesSourceFinal } from '../../finality/votes/links.ts';
import type { Checkpoint } from '../../finality/votes/vote.ts';
import type { VoterSet } from '../../finality/votes/voter-set.ts';
import type { VoterSets } from '../../finality/votes/voter-sets.ts';
import { encodeVoterSets } from '../../finality/votes/voter-sets-bytes.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import type { KeyedOverlay } from '../../ledger/overlay.ts';
import { activeRole, hasRole } from '../../ledger/permissions.ts';
import { presentHolders } from '../../ledger/role-holders.ts';
import { BANNED, MINER } from '../../ledger/roles.ts';
import {
  blocksByGenerator,
  carriedTargets,
  scripts,
  voterOverrides,
  voterSets,
} from '../../ledger/tables.ts';
import { type ChainRules, overrideAt } from '../../tx/rules/chain-rules.ts';
import { feature } from '../../tx/rules/features.ts';
import type { BlockContext, Tx } from '../../tx/transaction.ts';
import { genesisPermit } from '../../tx/types/101-genesis-permit.ts';
import { genesisRegisterNode } from '../../tx/types/110-genesis-register-node.ts';
import type { BlockDraft } from '../apply/block-draft.ts';
import { headerRowAt, transactionsAt } from '../store/stored-blocks.ts';
import type { Tip } from '../tip.ts';
import {
  ChainBlocks,
  type HeadersAhead,
  hasRoot,
  leavesAt,
  overriddenBelow,
  rootHeight,
} from './finality-state.ts';
import { keyAmong, overriddenSets, overrideHash } from './voter-override.ts';

const NOTHING_AHEAD: HeadersAhead = new Map();
const NO_HASH = new Uint8Array(32);

type HasFeatures = Pick<BlockContext, 'features'>;

/** The version of a block above the genesis block. */
export const versionIn = (
  { features }: HasFeatures,
  { consensus }: Pick<UnsignedHeader, 'consensus'>,
): BlockVersion =>
  features.has(feature.finality) && consensus.kind === 'poa' ? BOUND_VERSION : BLOCK_VERSION;

/** The header of a block of this node, bound to its parent where the chain asks for it. */
export function bound(
  header: UnsignedHeader,
  parent: Tip,
  context: HasFeatures,
  justification: Uint8Array,
  scheme: ChainScheme,
): UnsignedHeader {
  if (versionIn(context, header) !== BOUND_VERSION) return header;
  const parentHash = headerHash(parent.header, scheme);
  return {
    ...header,
    version: BOUND_VERSION,
    // The hash of the body follows when the block is sealed.
    bound: { parentHash, bodyHash: NO_HASH, justification },
  };
}

/** Throws ApiError where the bytes are none. */
export function carriedBy(
  header: Pick<UnsignedHeader, 'bound'>,
  scheme: ChainScheme,
): Justification | undefined {
  const bytes = header.bound?.justification;
  if (bytes === undefined || bytes.length === 0) return undefined;
  try {
    return decodeJustification(bytes, scheme);
  } catch (cause) {
    if (cause instanceof CodecError)
      throw apiError('Invalid', `A damaged justification: ${cause.message}`);
    throw cause;
  }
}

export class FinalityRules {
  private readonly rules: ChainRules;
  private readonly verifier: Pick<Verifier, 'verify'>;
  private genesisMiners: ReadonlyMap<string, Uint8Array> | undefined;

  constructor(rules: ChainRules, verifier: Pick<Verifier, 'verify'>) {
    this.rules = rules;
    this.verifier = verifier;
  }

  /**
   * Judges what a block adds. `isReplayed` leaves signatures out, which this node has verified before.
   * Rejects with ApiError where the block breaks a rule.
   */
  async judge(
    header: Header,
    parent: Tip,
    view: LedgerView,
    ahead: HeadersAhead,
    isReplayed: boolean,
  ): Promise<void> {
    if (header.version !== BOUND_VERSION) return;
    const { scheme } = view;
    if (!equal(boundOf(header).parentHash, headerHash(parent.header, scheme))) {
      throw apiError('Invalid', 'The block is bound to another header of its parent');
    }
    const justification = carriedBy(header, scheme);
    if (justification === undefined) return;
    const root = rootHeight(view, this.rules);
    if (root === undefined) throw apiError('Invalid', 'The chain has no root of finality');
    const chain = new ChainBlocks(view, ahead, root);
    const checks = checksInChain(
      justification,
      {
        source: chain.source(parent.height),
        at: (height) => (height > parent.height ? undefined : chain.at(height)),
      },
      { genesis: chain.checkpoint(1).id, scheme, rules: finalityRules },
    );
    if (isReplayed) return;
    await requireSignatures(checks, this.verifier);
  }

  /** Writes what a judged block leaves; all else of the block is in the draft. Throws ApiError. */
  leave(draft: BlockDraft, header: Header, ahead: HeadersAhead = NOTHING_AHEAD): void {
    const { overlay, context } = draft;
    const { height, timestamp } = context;
    const { scheme } = overlay;
    if (header.consensus.kind !== 'poa') return;
    const root = rootHeight(overlay, this.rules);
    if (root === undefined || height < root) return;
    this.requireNamed(header, height, scheme);
    const carried = carriedBy(header, scheme);
    const chain = new ChainBlocks(overlay, ahead, root);
    if (height > root) this.override(overlay, chain, height - 1);
    const provenFinal = carried && finalBy(carried.target, chain);
    if (carried !== undefined) {
      const { target } = carried;
      overlay.set(carriedTargets, height, { height: target.height, hash: target.id.slice() });
    }
    const before = height === root ? undefined : this.setsBefore(overlay, height);
    if (height > root && before === undefined) return;
    const electorate = this.electorateAfter(draft, header, ahead);
    const entitled = entitledVoters(electorate, timestamp, scheme);
    const sets =
      before === undefined
        ? voterSetsOfRoot(entitled)
        : voterSetsAfter(before, { height, entitled, provenFinal });
    if (before !== undefined && sets === before) return;
    overlay.set(voterSets, height, sets === undefined ? NOBODY : encodeVoterSets(sets, scheme));
  }

  /** With the entry of its operator a node follows one block at that height, and no other. */
  private requireNamed(header: Header, height: number, scheme: ChainScheme): void {
    const named = overrideAt(this.rules.voterOverrides ?? [], height);
    if (named === undefined || equal(headerHash(header, scheme), named.block.id)) return;
    throw apiError('Invalid', `The configuration names another block of height ${height}`);
  }

  /** The first child of a named block writes what that leaves: it may be older than the configuration. */
  private override(overlay: KeyedOverlay, chain: ChainBlocks, height: number): void {
    const { scheme } = overlay;
    const named = overrideAt(this.rules.voterOverrides ?? [], height);
    const sets = named && leavesAt(overlay, height);
    if (named === undefined || sets === undefined) return;
    if (!equal(chain.checkpoint(height).id, named.block.id)) return;
    overlay.set(voterOverrides, height, overrideHash(named, scheme));
    overlay.set(voterSets, height, encodeVoterSets(overriddenSets(sets, named, scheme), scheme));
  }

  private setsBefore(view: LedgerView, height: number): VoterSets<VoterSet> | undefined {
    if (!hasRoot(view, height - 1)) {
      throw apiError(
        'Invalid',
        'Feature 1004 was approved while another release ran here, which did not record its voters. ' +
          'Make the data directory anew',
      );
    }
    return leavesAt(view, height - 1);
  }

  private electorateAfter(draft: BlockDraft, header: Header, ahead: HeadersAhead): Electorate {
    const { overlay: view, context, txs } = draft;
    const { height, generator } = context;
    const { timestamp } = header;
    // Whoever was left out then comes back with a block, so that nobody who is gone raises a quorum.
    const since = overriddenBelow(view, height - 1);
    const named = since === undefined ? undefined : leavesAt(view, since)?.current;
    return {
      *miners(time) {
        for (const address of presentHolders(view, MINER)) {
          const op = activeRole(view, address, MINER, time);
          if (op !== undefined) yield { address, since: op.timestamp };
        }
      },
      isBanned: (address, time) => hasRole(view, address, BANNED, time),
      hasScript: (address) => view.get(scripts, address) !== undefined,
      givenKey: (address) =>
        named === undefined
          ? this.minersOfGenesis(view, height === 1 ? txs : undefined).get(latin1(address))
          : keyAmong(named, address),
      lastBlock(address) {
        if (equal(address, generator)) return { timestamp, generator: header.generator };
        return lastBlockBetween(view, ahead, address, { above: since ?? 0, below: height });
      },
    };
  }

  private minersOfGenesis(
    view: LedgerView,
    txs: readonly Tx[] | undefined,
  ): ReadonlyMap<string, Uint8Array> {
    this.genesisMiners ??= minersOf(txs ?? transactionsAt(view, 1), view.scheme);
    return this.genesisMiners;
  }
}

const NOBODY = new Uint8Array(0);

/** Height of the block that is final once this one of the chain is justified. */
function finalBy({ height }: Checkpoint, chain: ChainBlocks): number | undefined {
  const source = chain.source(height).height;
  return makesSourceFinal({ source, target: height }) ? source : undefined;
}

function lastBlockBetween(
  view: LedgerView,
  ahead: HeadersAhead,
  address: Uint8Array,
  { above, below }: { readonly above: number; readonly below: number },
): Pick<Header, 'timestamp' | 'generator'> | undefined {
  let at = below - 1;
  for (; at > above && ahead.has(at); at--) {
    const header = ahead.get(at)!;
    if (equal(view.scheme.addressOf(header.generator), address)) return header;
  }
  const { key } = blocksByGenerator;
  const [from, to] = [key.encode([address, above + 1]), key.encode([address, at + 1])];
  for (const [[, found]] of view.range(blocksByGenerator, from, to, 1, true)) {
    return headerRowAt(view, found)?.header;
  }
  return undefined;
}

/** Keys of those to whom the genesis block gives the role, by address. */
export function minersOf(txs: readonly Tx[], scheme: ChainScheme): ReadonlyMap<string, Uint8Array> {
  const keys = new Map<string, Uint8Array>();
  const miners = new Map<string, Uint8Array>();
  for (const { def, fields } of txs) {
    if (def.type === genesisRegisterNode.type) {
      const key = fields['targetPublicKey'] as Uint8Array;
      keys.set(latin1(scheme.addressOf(key)), key);
    }
    if (def.type !== genesisPermit.type || fields['role'] !== 'miner') continue;
    const address = latin1(fields['target'] as Uint8Array);
    const key = keys.get(address);
    if (key !== undefined) miners.set(address, key);
  }
  return miners;
}
