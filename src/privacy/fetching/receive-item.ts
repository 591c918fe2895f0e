/**
 * Fetches one item from one peer and stores it chunk by chunk.
 *
 * Invariant: an item is stored only where the peer's owner has signed the key, every chunk is
 * authentic, and the bytes have the hash on the chain.
 */
import { isOurs } from '../../base/assert.ts';
import { TooLate } from '../../base/deadline.ts';
import { misconduct } from '../../base/faults/misconduct.ts';
import { isOwnFault } from '../../base/faults/own-fault.ts';
import type { PeerStream } from '../../base/ports/network.ts';
import { PrivateStoreError } from '../../base/ports/private-store.ts';
import { CodecError } from '../../codec/codec.ts';
import type { Evidence } from '../../codec/evidence.ts';
import { CryptoError } from '../../crypto/family.ts';
import { chunkOpener } from '../../crypto/stream-cipher.ts';
import { boundHash } from '../../ledger/policies.ts';
import { received, splitHeader, WrongData } from '../protocol/chunks.ts';
import { type ItemId, itemBytes } from '../protocol/item-id.ts';
import type { Peer } from '../protocol/peer-ports.ts';
import {
  DATA,
  decodeHeader,
  decodeOffer,
  type Exchange,
  encodeRequest,
  signedByAsker,
  signedByReplier,
} from '../protocol/privacy-messages.ts';
import { type TransferPorts, transferKey } from '../protocol/session-key.ts';

/**
 * `nothing`: the peer does not have the item, or does not admit it; `busy`: it was not asked, or its
 * answer did not begin; `failed`: it did not deliver, or delivered wrong bytes; `slow`: it
 * began and took too long; `unstored`: this node cannot store it.
 */
export type Received = 'stored' | 'nothing' | 'busy' | 'failed' | 'slow' | 'unstored';

export async function receiveItem(
  peer: Peer,
  item: ItemId,
  timeoutMs: number,
  ports: TransferPorts,
): Promise<Received> {
  const { view, store, scheme, family, verifier, random, owner } = ports;
  const about: Exchange = { ...item, asker: owner.address, replier: peer.owner };

  // Until the stream is open, too.
  const line = { isAwaited: true, hasBegun: false };

  const transfer = (): Promise<Received> =>
    peer.converse(DATA, timeoutMs, async (raw) => {
      const stream = watched(raw, line);
      const own = family.generateKeyPair(random);
      const signature = await owner.sign(signedByAsker(about, own.publicKey));
      await stream.send(encodeRequest({ ...item, ephemeralKey: own.publicKey, signature }));
      await stream.end();
      const answer = await stream.receive();
      if (answer === undefined) return 'failed';
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
      const whole = { ...decodeHeader(header, scheme), ...item, sender: bound.sender };
      await store.write(whole, data, 'peer');
      return 'stored';
    });

  try {
    return await transfer();
  } catch (cause) {
    if (isOurs(cause)) throw cause;
    const wrong = wrongIn(cause);
    if (wrong !== undefined) peer.offend('wrong-private-data', wrong);
    if (wrong !== undefined) return 'failed';
    if (cause instanceof PrivateStoreError || isOwnFault(cause)) return 'unstored';
    // While this node stores what has come, the peer waits for it.
    if (!line.isAwaited) return 'unstored';
    // It may have many to answer, or not know the latest blocks, and has promised nothing.
    if (!line.hasBegun) return 'busy';
    if (cause instanceof TooLate) {
      peer.offend('unanswered-request', misconduct('confidential data that came too slowly'));
      return 'slow';
    }
    return 'failed';
  }
}

/** What no honest node sends, whatever chain it follows. */
function wrongIn(cause: unknown): Evidence | undefined {
  if (cause instanceof WrongData || cause instanceof CodecError) return cause;
  if (cause instanceof PrivateStoreError) return cause.ofData;
  return cause instanceof CryptoError ? misconduct('a key that opens nothing') : undefined;
}

/** What comes on the stream; `line` says whether this node waits for it, and has got any. */
const watched = (
  stream: PeerStream,
  line: { isAwaited: boolean; hasBegun: boolean },
): PeerStream => ({
  send: (message) => stream.send(message),
  end: () => stream.end(),
  abort: () => stream.abort(),
  async receive() {
    line.isAwaited = true;
    const message = await stream.receive();
    line.isAwaited = false;
    line.hasBegun = true;
    return message;
  },
});
