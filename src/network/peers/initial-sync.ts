/**
 * Keys for a node that is not in its own state yet (network.md#first-start-of-a-node): it asks only
 * the nodes that its operator has configured, and trusts their answers until the state confirms
 * them.
 */

import { base58 } from '../../base/base58.ts';
import { within } from '../../base/deadline.ts';
import type { Log } from '../../base/ports/log.ts';
import { Alarm } from '../../concurrency/alarm.ts';
import { addressText, type PeerAddress } from '../messages/peer-address.ts';
import { askIdentity, type IdentityPorts, IdentityRefused } from './identity-query.ts';

/** The node cannot start. */
export class InitialSyncError extends Error {
  override name = 'InitialSyncError';
  /** Nobody is known to have registered the owner; the message names what is to be registered. */
  readonly isUnregistered: boolean;

  constructor(message: string, isUnregistered = false) {
    super(message);
    this.isUnregistered = isUnregistered;
  }
}

/** The error of a node whose owner its own state does not have: what a connection manager needs. */
export function unregistered(
  why: string,
  { scheme, owner }: Pick<IdentityPorts, 'scheme'> & { readonly owner: Applicant },
): InitialSyncError {
  const key = `Address: ${scheme.addressToText(owner.address)}; public key: ${base58.encode(owner.publicKey)}`;
  return new InitialSyncError(`${why} ${key}`, true);
}

type Applicant = Pick<IdentityPorts['owner'], 'address' | 'publicKey'>;

const TOTAL_MS = 120_000;
const AGAIN_MS = 5000;
const ONE_MS_MAX = 30_000;

export const NO_PEERS =
  "Can't execute InitialSync: 'node.network.known-peers' is empty in the configuration and " +
  'owner-address is not found in the state.';
const FAILED = 'InitialSync failed with errors, could not resume application startup';
const NOT_REGISTERED =
  'Your node is probably not registered in the network. To register your node please contact ' +
  'your connection-manager.';

/**
 * Keys of the peers that answered, at least one. Rejects with InitialSyncError, and with the reason of the
 * signal as soon as that aborts.
 */
export async function initialSync(
  peers: readonly PeerAddress[],
  ports: IdentityPorts & { readonly log: Log },
  stopped: AbortSignal,
): Promise<readonly Uint8Array[]> {
  const { clock, log } = ports;
  const alarm = new Alarm(clock);
  stopped.addEventListener('abort', alarm.ring);
  if (peers.length === 0) throw unregistered(NO_PEERS, ports);
  const until = clock.monotonic() + TOTAL_MS;
  const unauthenticated = new Set<string>();
  for (;;) {
    const open = peers.filter((peer) => !unauthenticated.has(addressText(peer)));
    const keys: Uint8Array[] = [];
    await Promise.all(
      open.map(async (peer) => {
        const place = addressText(peer);
        try {
          keys.push(await askForKey(peer, ports, Math.min(ONE_MS_MAX, until - clock.monotonic())));
        } catch (cause) {
          if (stopped.aborted) return;
          log.warn('identity.failed', { place, why: (cause as Error).message });
          if (cause instanceof IdentityRefused && cause.refusal === 'not-registered') {
            unauthenticated.add(place);
          }
        }
      }),
    );
    stopped.throwIfAborted();
    if (keys.length > 0) return keys;
    if (unauthenticated.size === peers.length) throw unregistered(NOT_REGISTERED, ports);
    if (clock.monotonic() + AGAIN_MS >= until) {
      // Those that answered know nothing of the owner; the others were silent.
      if (unauthenticated.size > 0) throw unregistered(NOT_REGISTERED, ports);
      throw new InitialSyncError(FAILED);
    }
    await alarm.wait(AGAIN_MS);
    stopped.throwIfAborted();
  }
}

/** The key of the peer's owner. Rejects where it does not answer in time, or does not know this node. */
export function askForKey(
  peer: PeerAddress,
  ports: IdentityPorts,
  ms: number,
): Promise<Uint8Array> {
  const { network, clock } = ports;
  return within(clock, ms, 'no answer in time', async (signal) => {
    const connection = await network.dial(peer.host, peer.port, signal);
    signal.addEventListener('abort', () => connection.abort());
    try {
      return await askIdentity(connection, ports, signal);
    } finally {
      void connection.close();
    }
  });
}
