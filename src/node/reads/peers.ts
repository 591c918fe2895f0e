/** Peers for the API, in text forms: `<host name>/<address in digits>:<port>`. */
import type { Peers } from '../../api/services.ts';
import { apiError } from '../../base/errors.ts';
import { isDigits, type PeerAddress, parseAddress } from '../../network/messages/peer-address.ts';
import type { Peering } from '../../network/peering.ts';
import type { Session } from '../../network/sessions/session.ts';
import type { Config } from '../config/settings.ts';

const place = ({ host, port }: PeerAddress, digits = host): string =>
  isDigits(host) ? `/${host}:${port}` : `${host}/${digits}:${port}`;

/** In place of the digits of a name that this node has no session with; the JDK prints it so. */
const UNRESOLVED = '<unresolved>';

/** Without the port: `/1.2.3.4`, or the name before the stroke. */
function hostOf(text: string): string {
  const host = parseAddress(text)?.host ?? text;
  return isDigits(host) ? `/${host}` : `${host}/${UNRESOLVED}`;
}

export function peerReads(peering: Peering, config: Config): Peers {
  const { sessions, book, penalties } = peering;
  const { addressToText } = peering.scheme;

  const declared = ({ declaredAddress, remoteHost }: Session): string =>
    declaredAddress === undefined ? 'N/A' : place(declaredAddress, remoteHost);

  return {
    handshakeCheck: config.network.handshakeCheck,
    connected: () =>
      sessions.all().map((session) => ({
        address: place({ host: session.remoteHost, port: session.remotePort }),
        declaredAddress: declared(session),
        peerName: session.nodeName,
        peerNonce: session.nonce,
        applicationName: session.agent,
        applicationVersion: session.version,
        // The handshake refuses a peer with another one.
        applicationConsensus: config.blockchain.consensus.type,
        nodeOwnerAddress: addressToText(session.owner),
      })),
    all: () =>
      book.known().map(({ address, owner, lastSeen }) => {
        const digits = owner && sessions.of(owner)?.remoteHost;
        return { address: place(address, digits ?? UNRESOLVED), lastSeen };
      }),
    suspended: () =>
      penalties
        .suspended()
        .map(({ place, since }) => ({ hostname: hostOf(place), timestamp: since })),
    blacklisted: () =>
      penalties.blacklisted().map(({ host, since, reason }) => ({
        hostname: `/${host}`,
        timestamp: since,
        reason,
      })),
    async connect(host, port) {
      try {
        await peering.connect({ host, port });
      } catch {
        throw apiError('Invalid', `The host '${host}' has no address`);
      }
      return host;
    },
    clearBlacklist: () => penalties.clearBlacklist(),
    hostname(owner) {
      const session = sessions.of(owner);
      return session && { hostname: session.remoteHost, ip: session.remoteHost };
    },
  };
}
