/**
 * Whether a stored chain was made with the overrides that the configuration has (finality.md#overrides): a
 * node that left one out, or took another, would judge blocks by other voters than its neighbours.
 */
import { base58 } from '../../base/base58.ts';
import { equal } from '../../base/bytes.ts';
import { StartError } from '../../base/faults/start-error.ts';
import { headerHash } from '../../block/header.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { isProofBy } from '../../finality/proofs/final-proof.ts';
import { u32Key } from '../../ledger/key-codecs.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { voterOverrides } from '../../ledger/tables.ts';
import { overrideAt, type VoterOverride } from '../../tx/rules/chain-rules.ts';
import { headerRowAt } from '../store/stored-blocks.ts';
import { finalFloor, storedFinalProof } from './final-floor.ts';
import { leavesAt } from './finality-state.ts';
import { overriddenSets, overrideHash } from './voter-override.ts';

/** Only configurations add rows. */
const ROWS_MAX = 1_000;

/** `height` is that of the tip. Throws StartError. */
export function requireOverrides(
  view: LedgerView,
  overrides: readonly VoterOverride[],
  height: number,
): void {
  const [from, to] = [u32Key.encode(0), u32Key.encode(height + 1)];
  for (const [at, hash] of view.range(voterOverrides, from, to, ROWS_MAX)) {
    if (isAsMade(overrides, at, hash, view.scheme)) continue;
    throw wrong(
      `the chain was made with other voters from height ${at} on`,
      `put the entry back as it was: ${entryOf(view, at)}`,
    );
  }
  for (const named of overrides) requireOverride(view, named, height);
}

/**
 * The same for the rows of a store that is to be rebuilt: without the entry, this node would refuse its blocks from there on.
 * Throws StartError.
 */
export function requireOverridesOfRows(
  rows: Iterable<readonly [key: Uint8Array, hash: Uint8Array]>,
  overrides: readonly VoterOverride[],
  scheme: ChainScheme,
): void {
  for (const [key, hash] of rows) {
    const at = voterOverrides.key.decode(key);
    if (isAsMade(overrides, at, hash, scheme)) continue;
    throw wrong(
      `the damaged chain was made with other voters from height ${at} on, and cannot be rebuilt without them`,
      'put the entry back as it was: all nodes of the network have it',
    );
  }
}

function isAsMade(
  overrides: readonly VoterOverride[],
  height: number,
  hash: Uint8Array,
  scheme: ChainScheme,
): boolean {
  const named = overrideAt(overrides, height);
  return named !== undefined && equal(overrideHash(named, scheme), hash);
}

/** The entry of a height as a configuration has it. */
function entryOf(view: LedgerView, height: number): string {
  const header = hashAt(view, height) ?? '';
  const keys = leavesAt(view, height)?.current.keys ?? [];
  const voters = keys.map((key) => `"${base58.encode(key)}"`).join(', ');
  return `{ height = ${height}, header = "${header}", voters = [${voters}] }`;
}

function hashAt(view: LedgerView, height: number): string | undefined {
  const row = headerRowAt(view, height);
  return row && base58.encode(headerHash(row.header, view.scheme));
}

function requireOverride(view: LedgerView, named: VoterOverride, height: number): void {
  const at = named.block.height;
  if (at > height) return;
  const left = leavesAt(view, at);
  if (left === undefined) throw wrong(`nobody votes on block ${at}`, 'leave its entry out');
  const header = base58.encode(named.block.id);
  if (hashAt(view, at) !== header) throw ofOther(view, at, header);
  if (view.get(voterOverrides, at) !== undefined) return;
  const final = finalFloor(view);
  const proof = storedFinalProof(view, view.scheme);
  const after = overriddenSets(left, named, view.scheme);
  if (at === final && !(proof !== undefined && isProofBy(proof, after, view.scheme))) {
    // Votes from it would bind those who are left, and the block that carried them is gone.
    throw wrong(`block ${at} is final by voters that it leaves out`, 'name a block above it');
  }
  if (at === height) return;
  throw wrong(
    `the chain was made without the entry of height ${at}`,
    final > at
      ? `block ${final} is final here and stays: name a block above it`
      : `run 'platform-node chain rollback' with the height ${at}`,
  );
}

function ofOther(view: LedgerView, at: number, header: string): StartError {
  const final = finalFloor(view);
  return wrong(
    `block ${at} of the chain has the header hash ${hashAt(view, at)}, and its entry names ${header}`,
    final >= at
      ? `block ${final} is final here and stays: correct 'header' where it is wrong, or name a block above it`
      : `correct 'header' where it is wrong; where this chain is the wrong one, run 'platform-node chain rollback' with the height ${at - 1}`,
  );
}

const wrong = (why: string, remedy: string): StartError =>
  new StartError('voters that operators have named', 'finality.overrides', why, remedy);
