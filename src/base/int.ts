/**
 * Checked signed 64-bit arithmetic. Amounts are `bigint` everywhere. A result outside the i64 range
 * is refused, never wrapped (state.md#balances, H-11).
 */
import { apiError } from './errors.ts';

export const I64_MAX = 2n ** 63n - 1n;
export const I64_MIN = -(2n ** 63n);
export const I32_MAX = 2 ** 31 - 1;

export const isI64 = (value: bigint): boolean => value >= I64_MIN && value <= I64_MAX;

/** a + b. Throws ApiError Overflow outside the i64 range. */
export function add(a: bigint, b: bigint): bigint {
  const sum = a + b;
  if (!isI64(sum)) throw apiError('Overflow');
  return sum;
}

/** ⌊a·b/c⌋ for non-negative operands; the product in between is exact. Throws ApiError Overflow. */
export function mulDivFloor(a: bigint, b: bigint, c: bigint): bigint {
  const quotient = (a * b) / c;
  if (!isI64(quotient)) throw apiError('Overflow');
  return quotient;
}
