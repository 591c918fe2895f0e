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
import { base58 } from '../../base/base58.ts';
import { equal } from '../../base/bytes.ts';
import { MalformedStream, type PeerConnection, type PeerStream } from '../../base/network.ts';
import type { Random } from '../../base/ports.ts';
import { type ChainScheme, CodecError } from '../../codec/codec.ts';
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
  mirrored,
  signedByMiner,
  signedInHandshake,
} from '../messages/handshake-messages.ts';

/** What this node says about itself, without the fields that are new in every handshake. */
export type OwnHello = Omit<Hello, 'challenge' | 'ephemeralKey'>;

export interface HandshakePorts {
  readonly scheme: ChainScheme;
  readonly random: Random;
  readonly own: OwnHello;
  readonly minimumVersion: Hello['version'];
  /** Signs with the owner's key. */
  readonly sign: (message: Uint8Array) => Uint8Array;
  readonly verify: (
    publicKey: Uint8Array,
    message: Uint8Array,
    signature: Uint8Array,
  ) => Promise<boolean>;
  readonly ephemeralKey: () => Uint8Array;
  /** The key under which this owner may join; undefined: it may not. */
  readonly keyOf: (owner: Uint8Array, claimed: Uint8Array) => Uint8Array | undefined;
}

/** Another node, after it has proved who it is. */
export interface Identity {
  readonly owner: Uint8Array;
  /** Address of the account that makes its blocks. */
  readonly miner: Uint8Array;
  readonly hello: Hello;
}

/** Opens the session; a text refuses it (duplicates, capacity). */
export type Admit = (identity: Identity) => string | undefined;

export class HandshakeRefused extends Error {
  override name = 'HandshakeRefused';
  /** The other side has signed wrongly or sent what no node sends. */
  readonly forged: boolean;
  /** The other side refused, not this one. */
  readonly byRemote: boolean;
  /** The other side is this node itself, or another one with its keys. */
  readonly isSameOwner: boolean;
  /** The owner that the other side claims to be, proved or not. */
  owner: Uint8Array | undefined;

  constructor(why: string, { forged = false, byRemote = false, isSameOwner = false } = {}) {
    super(why);
    this.forged = forged;
    this.byRemote = byRemote;
    this.isSameOwner = isSameOwner;
  }
}

export interface Handshake {
  /** Both reject with HandshakeRefused, or with any error when the stream breaks. */
  dial(connection: PeerConnection, stream: PeerStream, admit: Admit): Promise<void>;
  answer(connection: PeerConnection, stream: PeerStream, admit: Admit): Promise<void>;
}

export function createHandshake(ports: HandshakePorts): Handshake {
  const { scheme, random, own, sign, verify } = ports;
  const ownAddress = scheme.addressOf(own.ownerPublicKey);

  return {
    dial: (connection, stream, admit) =>
      refusing(stream, async () => {
        const ownHello = newHello();
        await stream.send(ownHello);
        const otherHello = await next(stream);
        const identity = checked(otherHello, connection);
        const channel = channelOf(DIALLER, connection, ownHello, otherHello.bytes);
        await stream.send(auth(channel));
        try {
          await checkAuth(await next(stream), channel, identity);
          open(identity, admit);
        } catch (cause) {
          if (cause instanceof HandshakeRefused) cause.owner = identity.owner;
          throw cause;
        }
        await stream.end();
      }),

    answer: (connection, stream, admit) =>
      refusing(stream, async () => {
        const otherHello = await next(stream);
        const identity = checked(otherHello, connection);
        const ownHello = newHello();
        await stream.send(ownHello);
        const channel = channelOf(LISTENER, connection, ownHello, otherHello.bytes);
        await checkAuth(await next(stream), channel, identity);
        open(identity, admit);
        await stream.send(auth(channel));
        await stream.end();
      }),
  };

  function newHello(): Uint8Array {
    const fresh = { challenge: random.bytes(CHALLENGE_BYTES), ephemeralKey: ports.ephemeralKey() };
    return encodeHello({ ...own, ...fresh }, scheme);
  }

  async function next(stream: PeerStream): Promise<Received> {
    const bytes = await stream.receive();
    if (bytes === undefined) throw new HandshakeRefused('The handshake ended early');
    const message = decodeHandshake(bytes, scheme);
    if (message.kind === 'refusal') {
      // The wire carries the text alone, so this is where it becomes a kind.
      const isSameOwner = message.why === sameOwner(scheme.addressToText(ownAddress));
      throw new HandshakeRefused(message.why, { byRemote: true, isSameOwner });
    }
    return { bytes, message };
  }

  /** Everything that needs no signature, in the order of the specification. */
  function checked({ message }: Received, connection: PeerConnection): Identity {
    if (message.kind !== 'hello') throw new HandshakeRefused('Expected a hello', { forged: true });
    const { hello } = message;
    const owner = scheme.addressOf(hello.ownerPublicKey);
    const text = scheme.addressToText(owner);
    if (equal(owner, ownAddress)) {
      throw new HandshakeRefused(sameOwner(text), { isSameOwner: true });
    }
    const problem = problemOf(hello, own, ports.minimumVersion);
    if (problem !== undefined) throw new HandshakeRefused(problem);
    if (connection.remoteHost === '') {
      throw new HandshakeRefused(`Unknown remote address for channel of '${text}'`);
    }
    if (ports.keyOf(owner, hello.ownerPublicKey) === undefined) {
      const refusal = new HandshakeRefused(notPermitted(text));
      refusal.owner = owner;
      throw refusal;
    }
    return {
      owner,
      miner: scheme.addressOf(hello.miner?.publicKey ?? hello.ownerPublicKey),
      hello,
    };
  }

  async function checkAuth({ message }: Received, channel: Channel, identity: Identity) {
    if (message.kind !== 'auth') throw new HandshakeRefused('Expected a proof', { forged: true });
    const { owner, hello } = identity;
    const signed = signedInHandshake(mirrored(channel), scheme.fastHash);
    const key = ports.keyOf(owner, hello.ownerPublicKey);
    if (key === undefined) throw new HandshakeRefused(notPermitted(scheme.addressToText(owner)));
    if (!(await verify(key, signed, message.signature))) {
      throw new HandshakeRefused('Wrong remote handshake! Invalid signature.', { forged: true });
    }
    const { miner, genesisId } = hello;
    if (miner === undefined) return;
    if (!(await verify(miner.publicKey, signedByMiner(genesisId, owner), miner.signature))) {
      throw new HandshakeRefused('Wrong remote handshake! Invalid signature of the miner.', {
        forged: true,
      });
    }
  }

  function auth(channel: Channel): Uint8Array {
    return encodeAuth(sign(signedInHandshake(channel, scheme.fastHash)));
  }

  function open(identity: Identity, admit: Admit): void {
    const problem = admit(identity);
    if (problem !== undefined) throw new HandshakeRefused(problem);
  }

  /** Tells the other side why it is refused. */
  async function refusing(stream: PeerStream, action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (cause) {
      const error = asRefusal(cause);
      if (error instanceof HandshakeRefused && !error.byRemote) {
        await stream.send(encodeRefusal(error.message, scheme)).catch(() => {});
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

const sameOwner = (address: string): string =>
  `Shouldn't connect to node with same owner address '${address}'`;

export const notPermitted = (address: string): string =>
  `Wrong remote handshake! Sender address '${address}', is not permitted to join the cluster.`;

function channelOf(
  role: Channel['role'],
  connection: PeerConnection,
  ownHello: Uint8Array,
  otherHello: Uint8Array,
): Channel {
  return { role, ownHello, otherHello, ownId: connection.localId, otherId: connection.remoteId };
}

export const versionText = ({ major, minor, patch }: Hello['version']): string =>
  `${major}.${minor}.${patch}`;

/** "1.1.0" or "1.1.0-rc1"; what is no number counts as 0. */
export function versionOf(text: string): Hello['version'] {
  const [major = 0, minor = 0, patch = 0] = (/^\d+(\.\d+)*/.exec(text)?.[0] ?? '')
    .split('.')
    .map(Number);
  return { major, minor, patch };
}

function isOlder(a: Hello['version'], b: Hello['version']): boolean {
  if (a.major !== b.major) return a.major < b.major;
  if (a.minor !== b.minor) return a.minor < b.minor;
  return a.patch < b.patch;
}

/** The first thing in which the networks of two nodes differ. */
function problemOf(other: Hello, own: OwnHello, minimum: Hello['version']): string | undefined {
  const letter = (chainId: number): string => String.fromCharCode(chainId);
  if (other.chainId !== own.chainId) {
    const [theirs, ours] = [letter(other.chainId), letter(own.chainId)];
    return `Remote chain id '${theirs}' does not match local '${ours}'`;
  }
  if (isOlder(other.version, minimum)) {
    return `Remote node version '${versionText(other.version)}' is not supported`;
  }
  if (other.consensusType.toLowerCase() !== own.consensusType.toLowerCase()) {
    const [theirs, ours] = [other.consensusType, own.consensusType];
    return `Remote application consensus type '${theirs}' doesn't match local '${ours}'`;
  }
  if (!equal(other.genesisId, own.genesisId)) {
    const [theirs, ours] = [base58.encode(other.genesisId), base58.encode(own.genesisId)];
    return `Remote genesis id '${theirs}' does not match local '${ours}'`;
  }
  if (!equal(other.settingsHash, own.settingsHash)) {
    const [theirs, ours] = [base58.encode(other.settingsHash), base58.encode(own.settingsHash)];
    return `Remote consensus settings hash '${theirs}' does not match local '${ours}'`;
  }
  return undefined;
}
