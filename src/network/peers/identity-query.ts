/** Answers a node that does not know its peers' keys yet (network.md#first-start-of-a-node). */

import { unlessOurs } from '../../base/assert.ts';
import { within } from '../../base/deadline.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Network, PeerConnection, PeerStream } from '../../base/ports/network.ts';
import type { Random } from '../../base/ports/random.ts';
import type { SigningAccount } from '../../base/signer/signing.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import {
  type Answer,
  CHALLENGE_BYTES,
  decodeAnswer,
  decodeQuestion,
  encodeAnswer,
  encodeQuestion,
  IDENTITY,
  IDENTITY_BYTES_MAX,
  type IdentityRefusal,
  signedForIdentity,
} from '../messages/identity-messages.ts';
import { wireNameOn } from '../sessions/session-registry.ts';

export interface IdentityPorts {
  readonly network: Network;
  readonly scheme: ChainScheme;
  readonly clock: Clock;
  readonly random: Random;
  readonly owner: SigningAccount;
  readonly verify: (
    publicKey: Uint8Array,
    message: Uint8Array,
    signature: Uint8Array,
  ) => Promise<boolean>;
  /** The key of an address that is registered in the state of this node. */
  readonly registeredKey: (address: Uint8Array) => Uint8Array | undefined;
}

const EXCHANGE_MS_MAX = 10_000;
/** How much the clock of the asking node may differ. */
const SKEW_MS_MAX = 120_000;

/** Registers the protocol; must run before the network listens. */
export function serveIdentity(ports: IdentityPorts): void {
  const { network, scheme, clock, random } = ports;
  const limits = { messageBytesMax: IDENTITY_BYTES_MAX, inboundStreamsMax: 1 };
  network.handle(wireNameOn(scheme)(IDENTITY), limits, (stream, connection) => {
    within(clock, EXCHANGE_MS_MAX, 'the question did not come in time', async () => {
      const challenge = random.bytes(CHALLENGE_BYTES);
      await stream.send(challenge);
      const message = await stream.receive();
      if (message === undefined) return stream.abort();
      await stream.send(encodeAnswer(await answer(message, challenge, connection, ports), scheme));
      await stream.end();
    }).catch(unlessOurs(() => connection.abort()));
  });
}

async function answer(
  message: Uint8Array,
  challenge: Uint8Array,
  connection: PeerConnection,
  { scheme, clock, owner, verify, registeredKey }: IdentityPorts,
): Promise<Answer> {
  const { address, timestamp, signature } = decodeQuestion(message, scheme);
  if (registeredKey(owner.address) === undefined) {
    return { refusal: 'no-state', why: 'Invalid server state' };
  }
  const key = registeredKey(address);
  if (key === undefined) {
    const why = `ParticipantNotRegistered(${scheme.addressToText(address)})`;
    return { refusal: 'not-registered', why };
  }
  const asked = {
    address,
    challenge,
    timestamp,
    askerId: connection.remoteId,
    askedId: connection.localId,
  };
  const isTimely = Math.abs(clock.now() - timestamp) <= SKEW_MS_MAX;
  if (!isTimely || !(await verify(key, signedForIdentity(asked, scheme), signature))) {
    return { refusal: 'wrong-signature', why: 'InvalidRequestSignature' };
  }
  return { key: owner.publicKey };
}

/** The other node refuses to send its key. */
export class IdentityRefused extends Error {
  override name = 'IdentityRefused';
  readonly refusal: IdentityRefusal;

  constructor(refusal: IdentityRefusal, why: string) {
    super(why);
    this.refusal = refusal;
  }
}

/** The owner key of the node at the other end. Rejects with IdentityRefused, or any error. */
export async function askIdentity(
  connection: PeerConnection,
  { scheme, clock, owner }: IdentityPorts,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const name = wireNameOn(scheme)(IDENTITY);
  const stream = await connection.open(name, IDENTITY_BYTES_MAX, signal);
  const challenge = await expected(stream);
  const timestamp = clock.now();
  const asked = {
    address: owner.address,
    challenge,
    timestamp,
    askerId: connection.localId,
    askedId: connection.remoteId,
  };
  const signature = await owner.sign(signedForIdentity(asked, scheme));
  await stream.send(encodeQuestion({ address: owner.address, timestamp, signature }, scheme));
  const reply = decodeAnswer(await expected(stream), scheme);
  if ('refusal' in reply) throw new IdentityRefused(reply.refusal, reply.why);
  return reply.key;
}

async function expected(stream: PeerStream): Promise<Uint8Array> {
  const message = await stream.receive();
  if (message === undefined) throw new Error('the other side ended early');
  return message;
}
