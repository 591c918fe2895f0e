/**
 * Warnings and bans of one miner: the row of the table `bans` (consensus.md#warnings-and-bans).
 *
 *   u2 count, count × i8 timestamp              warnings since the last ban, newest first
 *   u2 count, count × (i8 timestamp, u4 height) bans, newest first
 *
 * A ban replaces the warnings that led to it. So warnings are always newer than bans, and two lists
 * hold the same information as the stack of the specification. The times of the replaced warnings
 * are not kept, because undo restores the whole row.
 *
 * Only the newest ban can be in force. Older ones answer questions about past heights; at most
 * BANS_KEPT of them are kept.
 */
import { type ChainScheme, Reader } from '../codec/codec.ts';
import { millis, u32 } from '../codec/primitives.ts';
import { scratch } from '../codec/scratch.ts';
import { list16, struct } from '../codec/struct.ts';
import { END_OF_TABLE, START_OF_TABLE } from '../ledger/key-codecs.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import { bans } from '../ledger/tables.ts';

const WARNINGS_MAX = 1000;
/** More miners than any network of this kind has. */
const MINERS_MAX = 100_000;
export const BANS_KEPT = 1000;

export interface Ban {
  /** Time of the block that caused the ban. */
  readonly timestamp: number;
  /** Height of that block: the first height at which the miner is banned. */
  readonly height: number;
}

export interface BanHistory {
  readonly warnings: readonly number[];
  readonly bans: readonly Ban[];
}

export const NO_BANS: BanHistory = { warnings: [], bans: [] };

const row = struct({
  warnings: list16(millis, WARNINGS_MAX),
  bans: list16(struct({ timestamp: millis, height: u32 }), BANS_KEPT),
});

export function encodeBanHistory(history: BanHistory, scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  row.write(out, history);
  return out.take();
}

/** Throws CodecError. */
export function decodeBanHistory(bytes: Uint8Array, scheme: ChainScheme): BanHistory {
  const src = new Reader(bytes, scheme);
  const history = row.read(src);
  src.finish();
  return history;
}

/** True if a ban is in force at this height. */
export function isBanned(
  history: BanHistory | undefined,
  height: number,
  banDurationBlocks: number,
): boolean {
  if (history === undefined) return false;
  for (const ban of history.bans) {
    if (height >= ban.height) return height < ban.height + banDurationBlocks;
  }
  return false;
}

/**
 * Miners whose ban is in force at a height, in the order of their addresses. Gives undefined for each
 * miner that is not banned.
 */
export function* bannedMiners(
  view: LedgerView,
  height: number,
  banDurationBlocks: number,
): Generator<Uint8Array | undefined> {
  for (const [address, bytes] of view.range(bans, START_OF_TABLE, END_OF_TABLE, MINERS_MAX)) {
    const history = decodeBanHistory(bytes, view.scheme);
    yield isBanned(history, height, banDurationBlocks) ? address : undefined;
  }
}

/** The time of the last warning or ban. */
export const lastMark = (history: BanHistory): number =>
  history.warnings[0] ?? history.bans[0]?.timestamp ?? 0;

export const withoutWarnings = (history: BanHistory): BanHistory => ({
  warnings: [],
  bans: history.bans,
});

export const withWarning = (history: BanHistory, timestamp: number): BanHistory => ({
  warnings: [timestamp, ...history.warnings],
  bans: history.bans,
});

export const withBan = (history: BanHistory, ban: Ban): BanHistory => ({
  warnings: [],
  bans: [ban, ...history.bans].slice(0, BANS_KEPT),
});
