/**
 * The handshake (network.md#handshake): mutual proof of the owner keys, bound to the transport
 * channel.
 *
 *   dialler   hello →
 *                     ← hello     after the listener has checked everything but the signature
 *             auth  →
 *                     ← auth      the listener has accepted, the session exists on its side
 *
 * The side that finds a fault sends a refusal with its reason and closes. Nothing else is read from
 * the connection before the handshake ends.
 */

import { MalformedStream, type PeerConnection, type PeerStream } from '../../base/ports/network.ts';
import type { Random } from '../../base/ports/random.ts';
import type { Sign } from '../../base/signer/signing.ts';
import { CodecError } from '../../codec/codec.ts';
import {
  CHALLENGE_BYTES,
  type Channel,
  DIALLER,
  decodeHandshake,
  encodeAuth,
  encodeHello,
  encodeRefusal,
  type HandshakeMessage,
  type Hello,
  LISTENER,
  signedInHandshake,
} from '../messages/handshake-messages.ts';
import { checkAuth, checkHello, type Identity, type PeerCheckPorts } from './check-peer.ts';
import { HandshakeRefused, notPermitted, sameOwner } from './handshake-refused.ts';

/** What this node says about itself, without the fields that are new in every handshake. */
export type OwnHello = Omit<Hello, 'challenge' | 'ephemeralKey'>;

export interface HandshakeDeps extends PeerCheckPorts {
  readonly random: Random;
  readonly own: OwnHello;
  /** Signs with the owner's key. */
  readonly sign: Sign;
  readonly ephemeralKey: () => Uint8Array;
}

/** Opens the session; a text refuses it (duplicates, capacity). */
export type Admit = (identity: Identity) => string | undefined;

export interface DialPorts {
  readonly admit: Admit;
  /** A text refuses the other before it may end a session to admit this node. */
  readonly hasPlace: Admit;
}

export class Handshake {
  private readonly deps: HandshakeDeps;
  private readonly ownAddress: Uint8Array;

  constructor(deps: HandshakeDeps) {
    this.deps = deps;
    this.ownAddress = deps.scheme.addressOf(deps.own.ownerPublicKey);
  }

  /** Both reject with HandshakeRefused, or with any error when the stream breaks. */
  dial(connection: PeerConnection, stream: PeerStream, ports: DialPorts): Promise<void> {
    const { admit, hasPlace } = ports;
    return this.refusing(stream, async () => {
      const ownHello = this.newHello();
      await stream.send(ownHello);
      const otherHello = await this.next(stream);
      const identity = checkHello(otherHello.message, connection, this.deps);
      const channel = channelOf(DIALLER, connection, ownHello, otherHello.bytes);
      try {
        this.open(identity, hasPlace);
        await stream.send(await this.auth(channel));
        await checkAuth((await this.next(stream)).message, channel, identity, this.deps);
        this.open(identity, admit);
      } catch (cause) {
        if (cause instanceof HandshakeRefused) cause.owner = identity.owner;
        throw cause;
      }
      await stream.end();
    });
  }

  answer(connection: PeerConnection, stream: PeerStream, admit: Admit): Promise<void> {
    return this.refusing(stream, async () => {
      const otherHello = await this.next(stream);
      const identity = checkHello(otherHello.message, connection, this.deps);
      const ownHello = this.newHello();
      await stream.send(ownHello);
      const channel = channelOf(LISTENER, connection, ownHello, otherHello.bytes);
      await checkAuth((await this.next(stream)).message, channel, identity, this.deps);
      // A session without it would be open on this side alone.
      const auth = await this.auth(channel);
      this.open(identity, admit);
      await stream.send(auth);
      await stream.end();
    });
  }

  private newHello(): Uint8Array {
    const { random, own, scheme, ephemeralKey } = this.deps;
    const fresh = { challenge: random.bytes(CHALLENGE_BYTES), ephemeralKey: ephemeralKey() };
    return encodeHello({ ...own, ...fresh }, scheme);
  }

  private async next(stream: PeerStream): Promise<Received> {
    const bytes = await stream.receive();
    if (bytes === undefined) throw new HandshakeRefused('The handshake ended early');
    const message = decodeHandshake(bytes, this.deps.scheme);
    if (message.kind === 'refusal') {
      // Only the text is transferred, so here it becomes a kind of refusal again.
      const { why } = message;
      const own = this.deps.scheme.addressToText(this.ownAddress);
      const [isSameOwner, isStranger] = [why === sameOwner(own), why === notPermitted(own)];
      throw new HandshakeRefused(why, { byRemote: true, isSameOwner, isStranger });
    }
    return { bytes, message };
  }

  private async auth(channel: Channel): Promise<Uint8Array> {
    return encodeAuth(await this.deps.sign(signedInHandshake(channel, this.deps.scheme.fastHash)));
  }

  /**
   * A check or a signer may take seconds. Whoever is removed meanwhile has no session yet that would
   * end with the block of the removal, and must not get one after it.
   */
  private open(identity: Identity, admit: Admit): void {
    const { keyOf, scheme } = this.deps;
    const { owner, hello } = identity;
    const isMember = keyOf(owner, hello.ownerPublicKey) !== undefined;
    const problem = isMember ? admit(identity) : notPermitted(scheme.addressToText(owner));
    if (problem !== undefined) throw new HandshakeRefused(problem);
  }

  /** Sends the reason of a refusal to the other side. */
  private async refusing(stream: PeerStream, action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (cause) {
      const error = asRefusal(cause);
      if (error instanceof HandshakeRefused && !error.byRemote) {
        await stream.send(encodeRefusal(error.message, this.deps.scheme)).catch(() => {});
        await stream.end().catch(() => {});
      }
      throw error;
    }
  }
}

interface Received {
  readonly bytes: Uint8Array;
  readonly message: HandshakeMessage;
}

const asRefusal = (cause: unknown): unknown =>
  cause instanceof CodecError || cause instanceof MalformedStream
    ? new HandshakeRefused(`Malformed handshake: ${cause.message}`, { forged: true })
    : cause;

function channelOf(
  role: Channel['role'],
  connection: PeerConnection,
  ownHello: Uint8Array,
  otherHello: Uint8Array,
): Channel {
  return { role, ownHello, otherHello, ownId: connection.localId, otherId: connection.remoteId };
}
