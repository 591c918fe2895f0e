/**
 * Fetches one item from one peer and stores it chunk by chunk.
 *
 * Invariant: an item is stored only where the peer's owner has signed the key, every chunk is
 * authentic, and the bytes have the hash on the chain.
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
 * `nothing`: the peer does not have the item, or does not admit it; `failed`: it did not deliver,
 * or delivered wrong bytes; `unstored`: this node cannot store it.
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
      const plain = received(stream, chunkOpener(family, key, itemBytes(item)));
      const { header, data } = await splitHeader(plain);
      // The sender of the data is taken from the chain, not from the peer.
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

/** Errors that no honest node causes, whatever chain it follows. */
const isWrong = (cause: unknown): boolean =>
  [WrongData, PrivateStoreError, CodecError, CryptoError].some((kind) => cause instanceof kind);
