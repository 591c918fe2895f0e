/**
 * One TCP port for all containers. A connection belongs to the container whose token it shows
 * first, and other tokens open nothing on it.
 */
import { contractLimits as limits } from '../../../base/contract-limits.ts';
import { apiError } from '../../../base/errors.ts';
import type { Clock } from '../../../base/ports.ts';
import type { ContainerNetwork } from '../container-interface.ts';
import type { GrpcContainer } from './container.ts';
import { type GrpcConnection, type GrpcHandler, listenGrpc } from './listener.ts';
import type { Reachable } from './reachable.ts';
import { type Traffic, watchTraffic } from './traffic.ts';

interface Opened {
  readonly traffic: Traffic;
  readonly network: ContainerNetwork | undefined;
}

/** A connection that has shown no good token yet. */
interface Stranger {
  refusals: number;
  /** Who has it counted already. */
  readonly of: GrpcContainer | undefined;
  readonly forget: () => void;
}

/** Rejects where the port is taken. */
export async function listenOnTcp(
  { host, port }: { readonly host: string; readonly port: number },
  clock: Pick<Clock, 'after'>,
): Promise<Reachable> {
  const containers = new Map<GrpcContainer, Opened>();
  const owners = new WeakMap<GrpcConnection, GrpcContainer>();
  const strangers = new Map<GrpcConnection, Stranger>();

  /** Undefined for a gateway, which may stand before several: nobody is to blame for what it sends. */
  function ownerAt(address: string): GrpcContainer | undefined {
    for (const [container, { network }] of containers) {
      if (network?.includes(address)) return container;
    }
    return undefined;
  }

  function ownerBy(connection: GrpcConnection, token: string | undefined): GrpcContainer {
    if (token === undefined || token === '') throw apiError('ContractTokenMissing');
    for (const [container, { traffic }] of containers) {
      if (!container.owns(token)) continue;
      const stranger = strangers.get(connection);
      stranger?.forget();
      strangers.delete(connection);
      owners.set(connection, container);
      if (stranger?.of !== container) traffic.began();
      traffic.connected(connection);
      return container;
    }
    const stranger = strangers.get(connection);
    if (stranger !== undefined) stranger.refusals++;
    if ((stranger?.refusals ?? 0) > limits.strangerRefusals.value) connection.destroy();
    throw apiError('ContractTokenInvalid');
  }

  const handler: GrpcHandler = {
    connected(connection) {
      // It counts before its token, so that connections without one end the container, too.
      const of = ownerAt(connection.address);
      if (of !== undefined) containers.get(of)?.traffic.began();
      let ofAddress = 0;
      for (const { address } of strangers.keys()) if (address === connection.address) ofAddress++;
      if (ofAddress >= limits.strangers.value) {
        connection.destroy();
        return;
      }
      const forget = clock.after(limits.strangerTime.value, () => connection.destroy());
      strangers.set(connection, { refusals: 0, of, forget });
    },
    disconnected(connection) {
      strangers.get(connection)?.forget();
      strangers.delete(connection);
      const owner = owners.get(connection);
      if (owner !== undefined) containers.get(owner)?.traffic.disconnected(connection);
    },
    begin: (connection, path, token) =>
      (owners.get(connection) ?? ownerBy(connection, token)).begin(path, token),
  };
  const listener = await listenGrpc({ host, port }, limits.tcpConnections.value, handler, clock);

  return {
    needsNetwork: true,

    async open(container, { network }) {
      const traffic = watchTraffic(container, clock);
      containers.set(container, { traffic, network });
      return {
        node: network?.gateway ?? host,
        nodePort: String(listener.port),
        mounts: [],
        async close() {
          traffic.stop();
          containers.delete(container);
        },
      };
    },

    close: () => listener.close(),
  };
}
