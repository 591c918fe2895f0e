/** Numbers, times and ids in readable form. Amounts are exact and never rounded. */

export const NATIVE_DECIMALS = 8;

const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ',');

/** Units as [whole, fraction]: 123456789 with 8 decimals is ['1', '.23456789']. */
export function amountParts(units, decimals) {
  const value = BigInt(units);
  const digits = String(value < 0n ? -value : value).padStart(decimals + 1, '0');
  const whole = grouped(digits.slice(0, digits.length - decimals));
  const fraction = decimals === 0 ? '' : `.${digits.slice(digits.length - decimals)}`;
  return [(value < 0n ? '-' : '') + whole, fraction];
}

export const count = (value) => grouped(String(value));

export const plural = (value, one, many = `${one}s`) =>
  `${count(value)} ${Number(value) === 1 ? one : many}`;

const two = (value) => String(value).padStart(2, '0');

export function dateTime(ms) {
  const at = new Date(Number(ms));
  if (Number.isNaN(at.getTime())) return String(ms);
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

export const isoTime = (ms) => {
  const at = new Date(Number(ms));
  return Number.isNaN(at.getTime()) ? String(ms) : at.toISOString();
};

const STEPS = [
  [60, 1, 's'],
  [3600, 60, 'min'],
  [86400, 3600, 'h'],
  [Infinity, 86400, 'd'],
];

export function age(ms, now = Date.now()) {
  const seconds = Math.round((now - Number(ms)) / 1000);
  if (seconds < 0) return `in ${span(-seconds)}`;
  return seconds === 0 ? 'now' : `${span(seconds)} ago`;
}

export function span(seconds) {
  const [, unit, name] = STEPS.find(([below]) => seconds < below);
  return `${Math.floor(seconds / unit)} ${name}`;
}

export const short = (id) => (id.length > 18 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id);

export function bytes(value) {
  if (value < 1024) return `${value} B`;
  return value < 1024 ** 2
    ? `${(value / 1024).toFixed(1)} KiB`
    : `${(value / 1024 ** 2).toFixed(1)} MiB`;
}

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** The bytes, or undefined where the text is not Base58. For ids and short messages. */
export function fromBase58(text) {
  const out = [];
  for (const char of text) {
    let carry = ALPHABET.indexOf(char);
    if (carry < 0) return undefined;
    for (let i = 0; i < out.length; i++) {
      carry += out[i] * 58;
      out[i] = carry & 255;
      carry >>= 8;
    }
    for (; carry > 0; carry >>= 8) out.push(carry & 255);
  }
  for (let i = 0; text[i] === '1'; i++) out.push(0);
  return Uint8Array.from(out.reverse());
}

/** The UTF-8 text inside Base58, where the bytes are readable text. */
export function readable(base58) {
  if (base58 === '' || base58.length > 1000) return undefined;
  const found = fromBase58(base58);
  if (found === undefined) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(found);
    return /\p{Cc}/u.test(text.replace(/[\n\t]/g, '')) ? undefined : text;
  } catch {
    return undefined;
  }
}
