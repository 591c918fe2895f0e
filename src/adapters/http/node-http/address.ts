/** The bytes of an address, from the text that Node gives. Throws where there is none. */
import { isIPv4, isIPv6 } from 'node:net';

const GROUPS = 8;

export function addressBytes(text: string): ArrayBuffer {
  const mapped = text.slice(text.lastIndexOf(':') + 1);
  if (isIPv4(mapped)) return Uint8Array.from(mapped.split('.'), Number).buffer;
  const [address = ''] = text.split('%');
  if (!isIPv6(address)) throw new Error('the connection is gone');
  const [left = [], right = []] = address.split('::').map(groupsOf);
  const zeros = Array<number>(GROUPS - left.length - right.length).fill(0);
  const groups = [...left, ...zeros, ...right];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff])).buffer;
}

const groupsOf = (text: string): number[] =>
  text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
