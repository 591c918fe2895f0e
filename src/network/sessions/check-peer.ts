/** The checks of a peer's two messages before there is a session (network.md#handshake). */
import { base58 } from '../../base/base58.ts';
import { equal } from '../../base/bytes.ts';
import type { PeerConnection } from '../../base/ports/network.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import {
  type Channel,
  type HandshakeMessage,
  type Hello,
  mirrored,
  OVERRIDES,
  signedByMiner,
  signedInHandshake,
} from '../messages/handshake-messages.ts';
import { HandshakeRefused, notPermitted, sameOwner } from './handshake-refused.ts';
import { isOlder, type NodeVersion, versionText } from './node-version.ts';

export interface PeerCheckPorts {
  readonly scheme: ChainScheme;
  readonly own: Pick<
    Hello,
    'chainId' | 'consensusType' | 'genesisId' | 'ownerPublicKey' | 'settingsHash' | 'features'
  >;
  readonly minimumVersion: NodeVersion;
  readonly verify: (
    publicKey: Uint8Array,
    message: Uint8Array,
    signature: Uint8Array,
  ) => Promise<boolean>;
  /** The key under which this owner may join; undefined: it may not. */
  readonly keyOf: (owner: Uint8Array, claimed: Uint8Array) => Uint8Array | undefined;
}

/** Another node that has proved its keys. */
export interface Identity {
  readonly owner: Uint8Array;
  /** The address of the account that makes its blocks. */
  readonly miner: Uint8Array;
  readonly hello: Hello;
}

/**
 * All checks that need no signature, in the order of the specification. Throws HandshakeRefused.
 */
export function checkHello(
  message: HandshakeMessage,
  connection: PeerConnection,
  ports: PeerCheckPorts,
): Identity {
  const { scheme, own } = ports;
  if (message.kind !== 'hello') throw new HandshakeRefused('Expected a hello', { forged: true });
  const { hello } = message;
  const owner = scheme.addressOf(hello.ownerPublicKey);
  const text = scheme.addressToText(owner);
  if (equal(owner, scheme.addressOf(own.ownerPublicKey))) {
    throw new HandshakeRefused(sameOwner(text), { isSameOwner: true });
  }
  const problem = problemOf(hello, ports);
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

/**
 * Checks the proof of the owner, and of the miner where it is another account. Rejects with
 * HandshakeRefused.
 */
export async function checkAuth(
  message: HandshakeMessage,
  channel: Channel,
  { owner, hello }: Identity,
  { scheme, keyOf, verify }: PeerCheckPorts,
): Promise<void> {
  if (message.kind !== 'auth') throw new HandshakeRefused('Expected a proof', { forged: true });
  const signed = signedInHandshake(mirrored(channel), scheme.fastHash);
  const key = keyOf(owner, hello.ownerPublicKey);
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

/** The first difference between the networks of two nodes. */
function problemOf(other: Hello, { own, minimumVersion }: PeerCheckPorts): string | undefined {
  const letter = (chainId: number): string => String.fromCharCode(chainId);
  if (other.chainId !== own.chainId) {
    const [theirs, ours] = [letter(other.chainId), letter(own.chainId)];
    return `Remote chain id '${theirs}' does not match local '${ours}'`;
  }
  if (isOlder(other.version, minimumVersion)) {
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
  const [theirs, ours] = [overridesIn(other), overridesIn(own)];
  if (theirs !== ours) {
    return `Remote overrides of voters '${theirs}' do not match local '${ours}'`;
  }
  return undefined;
}

/** Empty where it has none. */
const overridesIn = ({ features }: Pick<Hello, 'features'>): string =>
  features.find((one) => one.startsWith(OVERRIDES)) ?? '';
