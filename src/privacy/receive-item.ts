/**
 * Fetches one item from one peer, chunk by chunk into the store.
 *
 * Invariant: nothing is stored unless the peer's owner has signed for the key, every chunk is
 * genuine, and the bytes have the hash that the chain knows.
 */
import { isOurs } from '../base/assert.ts';
import { TooLate } from '../base/deadline.ts';
import { PrivateStoreError } from '../base/private-store.ts';
import { CodecError } from '../codec/codec.ts';
import { CryptoError } from '../crypto/family.ts';
import { chunkOpener } from '../crypto/stream-cipher.ts';
import { boundHash } from '../ledger/policies.ts';
import { received, splitHeader, WrongData } from './chunks.ts';
import { type ItemId, itemBytes } from './item-id.ts';
import type { Peer } from './peer-ports.ts';
import {
  DATA,
  decodeHeader,
  decodeOffer,
  type Exchange,
  encodeRequest,
  signedByAsker,
  signedByReplier,
} from './privacy-messages.ts';
import { type TransferPorts, transferKey } from './session-key.ts';

/**
 * `nothing`: the peer does not have it, or does not say so; `failed`: it did not deliver, or
 * delivered what it should not; `unstored`: this node cannot keep it.
 */
export type Received = 'stored' | 'nothing' | 'failed' | 'unstored';

export async function receiveItem(
  peer: Peer,
  item: ItemId,
  timeoutMs: number,
  ports: TransferPorts,
): Promise<Received> {
  const { view, store, scheme, family, verifier, random, owner } = ports;
  const about: Exchange = { ...item, asker: owner.address, replier: peer.owner };

  const transfer = (): Promise<Received> =>
    peer.converse(DATA, timeoutMs, async (stream) => {
      const own = family.generateKeyPair(random);
      const signature = owner.sign(signedByAsker(about, own.publicKey));
      await stream.send(encodeRequest({ ...item, ephemeralKey: own.publicKey, signature }));
      await stream.end();
      const answer = await stream.receive();
      if (answer === undefined) throw new Error('no answer');
      const offer = decodeOffer(answer, scheme);
      if (offer === undefined) return 'nothing';
      const signed = signedByReplier(about, own.publicKey, offer.ephemeralKey);
      if (!(await verifier.verifyOne(peer.ownerPublicKey, signed, offer.signature))) {
        throw new WrongData('the offer is not signed by its owner');
      }
      const keys = [own.publicKey, offer.ephemeralKey] as const;
      const key = transferKey(family, own.privateKey, offer.ephemeralKey, keys);
      const plain = received(stream, chunkOpener(key, itemBytes(item)));
      const { header, data } = await splitHeader(plain);
      // Who sent the data is what the chain says, not what the peer says.
      const bound = boundHash(view, item.policyId, item.hash);
      if (bound === undefined) return 'nothing';
      await store.write({ ...decodeHeader(header, scheme), ...item, sender: bound.sender }, data);
      return 'stored';
    });

  try {
    return await transfer();
  } catch (cause) {
    if (isOurs(cause)) throw cause;
    if (cause instanceof PrivateStoreError && cause.kind === 'storage') return 'unstored';
    if (isWrong(cause)) peer.offend('wrong-private-data', (cause as Error).message);
    else if (cause instanceof TooLate) peer.offend('unanswered-request', cause.message);
    return 'failed';
  }
}

/** What no honest node sends, whatever it knows of the chain. */
const isWrong = (cause: unknown): boolean =>
  [WrongData, PrivateStoreError, CodecError, CryptoError].some((kind) => cause instanceof kind);
