/**
 * Natural logarithm with the same bits on every machine.
 *
 * `Math.log` is only specified as an approximation, and a delay that differs by one millisecond
 * splits the chain. This is the algorithm of fdlibm (Sun Microsystems, 1993; freely usable): with x
 * = 2^k·(1 + f) and s = f/(2 + f), ln x = k·ln 2 + 2s + s·R(s²), R being a polynomial. It uses only
 * + − × / and comparison of doubles, whose results IEEE 754 defines bit by bit. The constants are
 * the shortest decimals of fdlibm's.
 */

const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;
const TWO_54 = 18014398509481984;

const L1 = 0.6666666666666735;
const L2 = 0.3999999999940942;
const L3 = 0.2857142874366239;
const L4 = 0.22222198432149784;
const L5 = 0.1818357216161805;
const L6 = 0.15313837699209373;
const L7 = 0.14798198605116586;

const number = new DataView(new ArrayBuffer(8));

/** −Infinity at 0, NaN below. */
export function ln(x: number): number {
  if (x === 0) return -Infinity;
  if (!(x > 0)) return NaN;
  if (x === Infinity) return x;

  let k = 0;
  let scaled = x;
  if (x < 2.2250738585072014e-308) {
    k = -54;
    scaled = x * TWO_54;
  }
  number.setFloat64(0, scaled);
  const exponent = number.getUint32(0);
  k += (exponent >> 20) - 1023;
  const high = exponent & 0xfffff;
  // Scales 1 + f to lie between √2/2 and √2.
  const half = (high + 0x95f64) & 0x100000;
  number.setUint32(0, high | (half ^ 0x3ff00000));
  k += half >> 20;
  return sum(k, number.getFloat64(0) - 1, high);
}

/** k·ln 2 + ln(1 + f); `high` is the upper part of the mantissa before the scaling. */
function sum(k: number, f: number, high: number): number {
  if ((0xfffff & (2 + high)) < 3) {
    if (f === 0) return k * LN2_HIGH + k * LN2_LOW;
    const r = f * f * (0.5 - 0.3333333333333333 * f);
    return k === 0 ? f - r : k * LN2_HIGH - (r - k * LN2_LOW - f);
  }
  const s = f / (2 + f);
  const z = s * s;
  const w = z * z;
  const r = z * (L1 + w * (L3 + w * (L5 + w * L7))) + w * (L2 + w * (L4 + w * L6));
  if (((high - 0x6147a) | (0x6b851 - high)) > 0) {
    const square = 0.5 * f * f;
    if (k === 0) return f - (square - s * (square + r));
    return k * LN2_HIGH - (square - (s * (square + r) + k * LN2_LOW) - f);
  }
  if (k === 0) return f - s * (f - r);
  return k * LN2_HIGH - (s * (f - r) - k * LN2_LOW - f);
}
