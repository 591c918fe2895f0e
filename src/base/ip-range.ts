/** Addresses of the Internet protocol, and ranges of them: `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`. */

export interface IpRange {
  readonly bytes: Uint8Array;
  /** Leading bits that an address of the range shares. */
  readonly bits: number;
}

const V4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;
const GROUPS = 8;
/** The first three bits of addresses of the Internet, 2000::/3. */
const GLOBAL = 0b001;
/** An address of version 4 inside one of version 6. */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** 4 or 16 bytes; undefined where the text is no address. */
export function ipBytes(text: string): Uint8Array | undefined {
  const mapped = MAPPED.exec(text)?.[1];
  if (mapped !== undefined) return ipBytes(mapped);
  const v4 = V4.exec(text);
  if (v4 === null) return v6Bytes(text);
  const bytes = v4.slice(1).map(Number);
  return bytes.every((byte) => byte <= 255) ? Uint8Array.from(bytes) : undefined;
}

function v6Bytes(text: string): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2 || !text.includes(':')) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const missing = GROUPS - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array<string>(missing).fill('0'), ...tail];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  const bytes = new Uint8Array(2 * GROUPS);
  const view = new DataView(bytes.buffer);
  for (const [i, group] of groups.entries()) view.setUint16(2 * i, Number.parseInt(group, 16));
  return bytes;
}

/** Undefined where the text is neither an address nor a range. */
export function ipRange(text: string): IpRange | undefined {
  const [, address = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bytes = ipBytes(address);
  if (bytes === undefined) return undefined;
  const bits = length === undefined ? 8 * bytes.length : Number(length);
  return bits <= 8 * bytes.length ? { bytes, bits } : undefined;
}

/**
 * Whom a limit counts as one client. Each line has 2^64 addresses of version 6 or more (RFC 6177), so
 * those of the Internet count by their first 64 bits. Any other text counts as it is.
 */
export function clientOf(address: string): string {
  const bytes = address.includes(':') ? v6Bytes(address) : undefined;
  if (bytes === undefined || (bytes[0] ?? 0) >> 5 !== GLOBAL) return address;
  const view = new DataView(bytes.buffer);
  const line = Array.from({ length: GROUPS / 2 }, (_, i) => view.getUint16(2 * i).toString(16));
  return `${line.join(':')}::/64`;
}

/** The same for every way to write an address: upper case, zeros, version 4 inside version 6. */
export function hostKey(host: string): string {
  const bytes = ipBytes(host);
  return bytes === undefined ? host : bytes.join('.');
}

/** False for a text that is no address. */
export function isInRanges(text: string, ranges: readonly IpRange[]): boolean {
  const bytes = ipBytes(text);
  return bytes !== undefined && ranges.some((range) => holds(range, bytes));
}

function holds({ bytes: own, bits }: IpRange, bytes: Uint8Array): boolean {
  if (own.length !== bytes.length) return false;
  const whole = bits >> 3;
  for (let i = 0; i < whole; i++) if (own[i] !== bytes[i]) return false;
  const mask = 0xff00 >> (bits & 7);
  return ((own[whole] ?? 0) & mask & 0xff) === ((bytes[whole] ?? 0) & mask & 0xff);
}
