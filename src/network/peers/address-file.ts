/** The file of known addresses: a JSON array of "host:port". */
import { fromUtf8, utf8 } from '../../base/bytes.ts';
import { type PeerAddress, parseAddress } from '../messages/peer-address.ts';

/** Up to `max` of the addresses in the file; throws where the file has another content. */
export function addressesIn(bytes: Uint8Array, max: number): PeerAddress[] {
  const list: unknown = JSON.parse(fromUtf8(bytes) ?? '');
  if (!Array.isArray(list)) throw new Error('no list');
  return list.slice(0, max).flatMap((text) => {
    const address = typeof text === 'string' ? parseAddress(text) : undefined;
    return address === undefined ? [] : [address];
  });
}

export const addressFile = (texts: Iterable<string>): Uint8Array =>
  utf8(`${JSON.stringify([...texts], null, 2)}\n`);
