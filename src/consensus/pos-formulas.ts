/**
 * The numbers of leased proof of stake (consensus.md#proof-of-stake). Integers are bigint where
 * they may exceed 2^53; operations on doubles keep exactly this order, so that every node gets the
 * same bits.
 */
import { I64_MAX } from '../base/int.ts';
import { ln } from './ln.ts';

/** The least generating balance of a miner: 10,000 tokens. */
export const MIN_GENERATING_BALANCE = 10n ** 12n;
/** The source of the hit is this many blocks back. */
export const HIT_DEPTH = 100;

const DELAY_MIN_MS = 5000;
const C1 = 70_000;
const C2 = 5e17;
/** 2^64 − 1, which as a double is 2^64. */
const HIT_MAX = Number(2n ** 64n - 1n);
const MIN_BASE_TARGET = 9n;

/** Adapts the formula of a network of 10^15 · 0.2 units to this one. */
export const normalisation = (initialBalance: bigint): number => 0.2e15 / Number(initialBalance);

/** The first eight bytes of a generation signature as an unsigned little-endian integer. */
export function hitOf(generationSignature: Uint8Array): bigint {
  let hit = 0n;
  for (let i = 7; i >= 0; i--) hit = (hit << 8n) | BigInt(generationSignature[i]!);
  return hit;
}

/** Milliseconds after the parent; undefined where a hit of 0 makes the delay infinite. */
export function delayOf(
  hit: bigint,
  baseTarget: bigint,
  balance: bigint,
  norm: number,
): number | undefined {
  const logarithm = ln(Number(hit) / HIT_MAX);
  const inner = 1 - (C2 * logarithm) / Number(baseTarget) / (Number(balance) * norm);
  const delay = Math.trunc(DELAY_MIN_MS + C1 * ln(inner));
  return Number.isFinite(delay) ? delay : undefined;
}

/**
 * Base target of a block: one percent up when the last three intervals were too long on average,
 * one percent down when they were too short. `ancestor` is the block three intervals back; without
 * one the parent's target stays. The bounds 0.5 and 1.5 of feature 100 equal 30/60 and 90/60, the
 * bounds before it.
 */
export function nextBaseTarget(
  parentBaseTarget: bigint,
  timestamp: number,
  ancestorTimestamp: number | undefined,
  averageDelaySeconds: number,
): bigint {
  if (ancestorTimestamp === undefined) return parentBaseTarget;
  const average = Math.floor(Math.floor((timestamp - ancestorTimestamp) / 3) / 1000);
  const step = parentBaseTarget / 100n > 1n ? parentBaseTarget / 100n : 1n;
  if (average > 1.5 * averageDelaySeconds) {
    return clamped(parentBaseTarget + step, averageDelaySeconds);
  }
  if (average < 0.5 * averageDelaySeconds) {
    return clamped(parentBaseTarget - step, averageDelaySeconds);
  }
  return parentBaseTarget;
}

/** H-5: keeps the target in the range where delays make sense and no product overflows. */
function clamped(baseTarget: bigint, averageDelaySeconds: number): bigint {
  const max = I64_MAX / BigInt(averageDelaySeconds);
  if (baseTarget < MIN_BASE_TARGET) return MIN_BASE_TARGET;
  return baseTarget > max ? max : baseTarget;
}
