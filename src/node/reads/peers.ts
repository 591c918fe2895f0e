/** Peers for the API, in the text forms of rest-api.md §10: `<host name>/<address in digits>:<port>`. */
import type { Peers } from '../../api/services-network.ts';
import { apiError } from '../../base/errors.ts';
import { isDigits, type PeerAddress } from '../../network/address.ts';
import type { Peering } from '../../network/peering.ts';
import type { Session } from '../../network/session.ts';
import type { Config } from '../config/settings.ts';

const place = ({ host, port }: PeerAddress, digits = host): string =>
  isDigits(host) ? `/${host}:${port}` : `${host}/${digits}:${port}`;

export function peerReads(peering: Peering, config: Config): Peers {
  const { sessions, book, penalties } = peering;
  const { addressToText } = peering.chain;

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
        // The handshake lets in nobody with another one.
        applicationConsensus: config.blockchain.consensus.type,
        nodeOwnerAddress: addressToText(session.owner),
      })),
    all: () => book.known().map(({ address, lastSeen }) => ({ address: place(address), lastSeen })),
    suspended: () =>
      penalties
        .suspended()
        .map(({ place, since }) => ({ hostname: `/${place}`, timestamp: since })),
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
