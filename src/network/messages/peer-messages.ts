/**
 * Addresses of nodes that peers exchange (network.md#messages), notices of one protocol:
 *
 *   1 ask
 *   2 tell   count 2, then count × (host 2+n, port 2)
 */
import { type ChainScheme, CodecError, Reader } from '../../codec/codec.ts';
import { text16, u16 } from '../../codec/primitives.ts';
import { scratch } from '../../codec/scratch.ts';
import { list16, struct } from '../../codec/struct.ts';
import { HOST_BYTES_MAX, isAddress, type PeerAddress } from './peer-address.ts';

export const PEERS = 'peers/1';
export const PEERS_MAX = 1000;
export const PEERS_BYTES_MAX = 3 + PEERS_MAX * (HOST_BYTES_MAX + 4);

const ASK = 1;
const TELL = 2;

const addresses = list16(struct({ host: text16(HOST_BYTES_MAX), port: u16 }), PEERS_MAX);

export type PeersMessage =
  | { readonly kind: 'ask' }
  | { readonly kind: 'tell'; readonly addresses: readonly PeerAddress[] };

export const ASK_PEERS = Uint8Array.of(ASK);

export function encodePeers(list: readonly PeerAddress[], scheme: ChainScheme): Uint8Array {
  const out = scratch(scheme);
  out.u8(TELL);
  addresses.write(out, list.slice(0, PEERS_MAX));
  return out.take();
}

/** Invalid addresses are left out. Throws CodecError. */
export function decodePeers(message: Uint8Array, scheme: ChainScheme): PeersMessage {
  const src = new Reader(message, scheme);
  const tag = src.u8();
  if (tag !== ASK && tag !== TELL) throw new CodecError('bytes', `${tag} is no message of peers`);
  const list = tag === TELL ? addresses.read(src).filter(isAddress) : [];
  src.finish();
  return tag === TELL ? { kind: 'tell', addresses: list } : { kind: 'ask' };
}
