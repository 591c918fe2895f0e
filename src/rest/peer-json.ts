/** Peers as text: `<host name>/<IP address>:<port>`. */
import { isDigits, type PeerAddress, parseAddress } from '../network/messages/peer-address.ts';
import type { KnownPlace } from '../network/peers/known-places.ts';
import type { Session } from '../network/sessions/session.ts';
import type { PeersPort, Services } from './services.ts';

type ShownSession = ReturnType<PeersPort['sessions']['all']>[number];

/** Replaces the IP address of a host name without a session; the JDK prints it like this. */
const UNRESOLVED = '<unresolved>';

const placeText = ({ host, port }: PeerAddress, digits = host): string =>
  isDigits(host) ? `/${host}:${port}` : `${host}/${digits}:${port}`;

/** The text without the port: `/1.2.3.4`, or the name before the slash. */
export function hostText(place: string): string {
  const host = parseAddress(place)?.host ?? place;
  return isDigits(host) ? `/${host}` : `${host}/${UNRESOLVED}`;
}

export const sessionJson = (
  session: ShownSession,
  { scheme, consensus }: Pick<Services, 'scheme' | 'consensus'>,
) => ({
  address: placeText({ host: session.remoteHost, port: session.remotePort }),
  declaredAddress: declaredText(session),
  peerName: session.nodeName,
  peerNonce: session.nonce,
  applicationName: session.agent,
  applicationVersion: session.version,
  // The handshake refuses a peer with another consensus type.
  applicationConsensus: consensus.type,
  nodeOwnerAddress: scheme.addressToText(session.owner),
});

const declaredText = ({ declaredAddress, remoteHost }: Session): string =>
  declaredAddress === undefined ? 'N/A' : placeText(declaredAddress, remoteHost);

export function knownJson(
  { address, owner, lastSeen }: KnownPlace,
  { sessions }: Pick<PeersPort, 'sessions'>,
) {
  const digits = owner && sessions.of(owner)?.remoteHost;
  return { address: placeText(address, digits ?? UNRESOLVED), lastSeen };
}
