/**
 * Answers the requests of peers for items.
 *
 * Invariants: data go only to members of the policy that are registered participants at the current
 * head, and only if their hash is on the chain; every other peer gets the same byte, before any
 * lookup or computation for it; running requests, their time and the number of refused requests are
 * limited.
 */

import { pause, within } from '../../base/deadline.ts';
import { limitsOf } from '../../base/limits/budget.ts';
import type { PeerStream } from '../../base/ports/network.ts';
import type { PrivateData, PrivateItem } from '../../base/ports/private-store.ts';
import { CodecError } from '../../codec/codec.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';
import { chunkSealer } from '../../crypto/stream-cipher.ts';
import { isParticipant } from '../../ledger/participants.ts';
import { boundHash, isMember, RECIPIENT } from '../../ledger/policies.ts';
import { inChunks, preceded } from '../protocol/chunks.ts';
import { type ItemId, itemBytes } from '../protocol/item-id.ts';
import type { Peer, Peers } from '../protocol/peer-ports.ts';
import {
  DATA,
  type DataRequest,
  decodeRequest,
  type Exchange,
  encodeHeader,
  encodeOffer,
  NO_DATA,
  signedByAsker,
  signedByReplier,
} from '../protocol/privacy-messages.ts';
import { type TransferPorts, transferKey } from '../protocol/session-key.ts';
import { dataBudget } from './privacy-budgets.ts';
import { RefusedRequests } from './refused-requests.ts';

export interface ServeItemsOptions {
  /** Requests answered at a time, of all peers. */
  readonly parallelism: number;
  readonly timeoutMs: number;
}

/** Counts bytes that were processed and not sent. */
type Charge = (bytes: number) => void;

/** The time for the request to arrive once its stream is open. */
const RECEIVE_MS_MAX = 20_000;
const BLOCK_MS_MAX = 2_000;
/** The time for a request to wait for others; well below the time that the asking node has. */
export const BUSY_MS_MAX = 10_000;
const BLOCK_POLL_MS = 50;

export interface ServeItemsDeps extends TransferPorts {
  readonly peers: Pick<Peers, 'handleStreams'>;
  /** Called when the data that this node had are found to be damaged. */
  readonly onDamaged: (item: ItemId) => void;
}

export class ItemServer {
  private readonly options: ServeItemsOptions;
  private readonly deps: ServeItemsDeps;
  private readonly places: Semaphore;
  private readonly refused: RefusedRequests;

  constructor(options: ServeItemsOptions, deps: ServeItemsDeps) {
    this.options = options;
    this.deps = deps;
    this.places = new Semaphore(options.parallelism);
    this.refused = new RefusedRequests(deps.clock);
  }

  /** Registers the protocol; streams arrive once the network has started. */
  start(): void {
    this.deps.peers.handleStreams(DATA, {
      ...limitsOf(dataBudget(this.options.parallelism)),
      serve: (peer, stream, charge) => this.serve(peer, stream, charge),
    });
  }

  private async serve(peer: Peer, stream: PeerStream, charge: Charge): Promise<void> {
    const { clock, scheme } = this.deps;
    const message = await within(clock, RECEIVE_MS_MAX, 'the request did not arrive in time', () =>
      stream.receive(),
    );
    if (message === undefined) return stream.abort();
    const request = decodeRequest(message, scheme);
    if (!(await this.mayReceiveSoon(request, peer.owner))) return this.refuse(peer, stream);
    const release = await this.places.acquireWithin(clock, BUSY_MS_MAX);
    // The asking node goes on to another member, and comes again.
    if (release === undefined) return nothing(stream);
    try {
      await within(clock, this.options.timeoutMs, 'the data were not taken in time', () =>
        this.answer(request, peer, stream, charge),
      );
    } finally {
      release();
    }
  }

  private isRecipient({ policyId }: DataRequest, asker: Uint8Array): boolean {
    const { view } = this.deps;
    return isParticipant(view, asker) && isMember(view, policyId, RECIPIENT, asker);
  }

  private mayReceive(request: DataRequest, asker: Uint8Array): boolean {
    const { policyId, hash } = request;
    return (
      this.isRecipient(request, asker) && boundHash(this.deps.view, policyId, hash) !== undefined
    );
  }

  /**
   * The block with the hash, or with the membership, may have reached the asking node first. So a
   * participant is worth a short wait, unless too many of its requests were refused.
   */
  private async mayReceiveSoon(request: DataRequest, asker: Uint8Array): Promise<boolean> {
    for (let waited = 0; this.isWorthWaiting(request, asker); waited += BLOCK_POLL_MS) {
      if (this.mayReceive(request, asker)) return true;
      if (waited >= BLOCK_MS_MAX) return false;
      await pause(this.deps.clock, BLOCK_POLL_MS);
    }
    return false;
  }

  private isWorthWaiting(request: DataRequest, asker: Uint8Array): boolean {
    if (this.isRecipient(request, asker)) return true;
    return isParticipant(this.deps.view, asker) && !this.refused.isFull(asker);
  }

  private async refuse({ owner: asker }: Peer, stream: PeerStream): Promise<void> {
    if (this.refused.add(asker)) await nothing(stream);
    else stream.abort();
  }

  private async answer(
    request: DataRequest,
    peer: Peer,
    stream: PeerStream,
    charge: Charge,
  ): Promise<void> {
    const { owner, verifier, store } = this.deps;
    const { policyId, hash, ephemeralKey: askersKey } = request;
    const about = { policyId, hash, asker: peer.owner, replier: owner.address };
    const signed = signedByAsker(about, askersKey);
    if (!(await verifier.verifyOne(peer.ownerPublicKey, signed, request.signature))) {
      throw new CodecError('bytes', 'a request for private data that its owner did not sign');
    }
    const [info, data] = await Promise.all([
      store.info(policyId, hash),
      store.read(policyId, hash),
    ]);
    // From now on the store says that it has no such item, so this is told once.
    if (info !== undefined && data === undefined) this.deps.onDamaged({ policyId, hash });
    if (info === undefined || data === undefined) return nothing(stream);
    // The store has read and hashed all data, whether or not the peer takes them.
    let unsent = data.length;
    try {
      // The chain may have moved on meanwhile.
      if (!this.mayReceive(request, peer.owner)) return await nothing(stream);
      for await (const message of offered(request, about, info, data, this.deps)) {
        await stream.send(message);
        unsent -= message.length;
      }
      await stream.end();
    } finally {
      charge(Math.max(0, unsent));
    }
  }
}

async function nothing(stream: PeerStream): Promise<void> {
  await stream.send(NO_DATA);
  await stream.end();
}

/** The messages of an item. */
async function* offered(
  request: DataRequest,
  about: Exchange,
  info: PrivateItem,
  data: PrivateData,
  { scheme, family, random, owner }: TransferPorts,
): AsyncIterable<Uint8Array> {
  const askersKey = request.ephemeralKey;
  const own = family.generateKeyPair(random);
  const key = transferKey(family, own.privateKey, askersKey, [askersKey, own.publicKey]);
  const signature = await owner.sign(signedByReplier(about, askersKey, own.publicKey));
  yield encodeOffer({ ephemeralKey: own.publicKey, signature });
  const header = encodeHeader(info, scheme);
  const seal = chunkSealer(family, key, itemBytes(request));
  const pieces = preceded(header, data.pieces);
  for await (const chunk of inChunks(pieces, header.length + data.length)) yield seal(chunk);
}
