/** The network port, with messages and bytes counted by protocol and direction. */
import type { Network, PeerConnection, PeerStream } from '../../base/ports/network.ts';
import type { NodeMetrics } from './observability.ts';

type Counting = (direction: 'in' | 'out', message: Uint8Array) => void;

export function measuredNetwork(network: Network, metrics: NodeMetrics): Network {
  /** Other code compares connections by identity, so each is wrapped only once. */
  const wrapped = new WeakMap<PeerConnection, PeerConnection>();

  /** "/permchain/T/blocks/1" is "blocks". */
  function countingOf(wireName: string): Counting {
    const protocol = wireName.split('/')[3] ?? wireName;
    return (direction, message) => {
      metrics.peerMessages.add(1, { protocol, direction });
      metrics.peerBytes.add(message.length, { protocol, direction });
    };
  }

  function measured(connection: PeerConnection): PeerConnection {
    const known = wrapped.get(connection);
    if (known !== undefined) return known;
    const made: PeerConnection = {
      localId: connection.localId,
      remoteId: connection.remoteId,
      remoteHost: connection.remoteHost,
      remotePort: connection.remotePort,
      outbound: connection.outbound,
      async open(protocol, messageBytesMax, signal) {
        const stream = await connection.open(protocol, messageBytesMax, signal);
        return counted(stream, countingOf(protocol));
      },
      close: () => connection.close(),
      abort: () => connection.abort(),
      onClose: (action) => connection.onClose(action),
    };
    wrapped.set(connection, made);
    return made;
  }

  return {
    handle: (protocol, limits, handler) =>
      network.handle(protocol, limits, (stream, connection) =>
        handler(counted(stream, countingOf(protocol)), measured(connection)),
      ),
    onConnection: (action) => network.onConnection((connection) => action(measured(connection))),
    listen: (options) => network.listen(options),
    dial: async (host, port, signal) => measured(await network.dial(host, port, signal)),
    resolve: (host) => network.resolve(host),
    close: () => network.close(),
  };
}

const counted = (stream: PeerStream, count: Counting): PeerStream => ({
  send(message) {
    count('out', message);
    return stream.send(message);
  },
  async receive() {
    const message = await stream.receive();
    if (message !== undefined) count('in', message);
    return message;
  },
  end: () => stream.end(),
  abort: () => stream.abort(),
});
