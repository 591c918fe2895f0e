/**
 * One TCP port for all containers. A connection belongs to the container whose token it shows
 * first, and other tokens open nothing on it.
 */
import { apiError } from '../../../base/errors.ts';
import { contractLimits as limits } from '../../../base/limits/contract-limits.ts';
import type { Clock } from '../../../base/ports/clock.ts';
import { Counts } from '../../../concurrency/counts.ts';
import type { ContainerNetwork } from '../container-interface.ts';
import type { GrpcContainer } from './container.ts';
import { type Answering, type GrpcConnection, type GrpcHandler, listenGrpc } from './listener.ts';
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
  /** Whom the limit counts it for. */
  readonly countedAs: string;
  readonly forget: () => void;
}

/** Rejects where the port is taken. */
export async function listenOnTcp(
  { host, port }: { readonly host: string; readonly port: number },
  clock: Pick<Clock, 'after'>,
): Promise<Reachable> {
  const connections = new Connections(clock);
  const { containers } = connections;
  const most = limits.tcpConnections.value;
  const listener = await listenGrpc({ host, port }, most, connections, clock);
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

export class Connections implements GrpcHandler {
  readonly containers = new Map<GrpcContainer, Opened>();
  readonly #clock: Pick<Clock, 'after'>;
  readonly #owners = new WeakMap<GrpcConnection, GrpcContainer>();
  readonly #strangers = new Map<GrpcConnection, Stranger>();

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  connected(connection: GrpcConnection): void {
    // It counts before its token, so that connections without one end the container, too.
    const of = this.#ownerAt(connection.address);
    if (of !== undefined) this.containers.get(of)?.traffic.began();
    const { address, client } = connection;
    // Networks of containers, and gateways before them, may share their first 64 bits.
    const isForeign = of === undefined && !this.#gateways().has(address);
    const countedAs = isForeign ? client : address;
    let alike = 0;
    for (const stranger of this.#strangers.values()) {
      if (stranger.countedAs === countedAs) alike++;
    }
    if (alike >= limits.strangers.value) {
      connection.destroy();
      return;
    }
    const forget = this.#clock.after(limits.strangerTime.value, () => connection.destroy());
    this.#strangers.set(connection, { refusals: 0, of, countedAs, forget });
    if (of === undefined) this.#makeRoom();
  }

  /**
   * Many addresses together must not keep containers out. Those of a gateway are not counted, since
   * containers may stand behind it.
   */
  #makeRoom(): void {
    const foreign: GrpcConnection[] = [];
    const counts = new Counts<string>();
    const gateways = this.#gateways();
    for (const [connection, { of }] of this.#strangers) {
      if (of !== undefined || gateways.has(connection.address)) continue;
      foreign.push(connection);
      counts.add(connection.client, 1);
    }
    if (foreign.length <= limits.strangersInAll.value) return;
    const countOf = ({ client }: GrpcConnection): number => counts.of(client);
    const most = foreign.reduce((found, one) => (countOf(one) > countOf(found) ? one : found));
    this.#strangers.get(most)?.forget();
    this.#strangers.delete(most);
    most.destroy();
  }

  #gateways(): ReadonlySet<string> {
    const gateways = new Set<string>();
    for (const { network } of this.containers.values()) {
      if (network !== undefined) gateways.add(network.gateway);
    }
    return gateways;
  }

  disconnected(connection: GrpcConnection): void {
    this.#strangers.get(connection)?.forget();
    this.#strangers.delete(connection);
    const owner = this.#owners.get(connection);
    if (owner !== undefined) this.containers.get(owner)?.traffic.disconnected(connection);
  }

  begin(connection: GrpcConnection, path: string, token: string | undefined): Answering {
    const owner = this.#owners.get(connection) ?? this.#ownerBy(connection, token);
    return owner.begin(path, token);
  }

  /** Undefined for a gateway, which may stand before several: nobody is to blame for what it sends. */
  #ownerAt(address: string): GrpcContainer | undefined {
    for (const [container, { network }] of this.containers) {
      if (network?.includes(address)) return container;
    }
    return undefined;
  }

  #ownerBy(connection: GrpcConnection, token: string | undefined): GrpcContainer {
    if (token === undefined || token === '') throw apiError('ContractTokenMissing');
    const stranger = this.#strangers.get(connection);
    for (const [container, { traffic }] of this.containers) {
      if (!container.owns(token)) continue;
      stranger?.forget();
      this.#strangers.delete(connection);
      this.#owners.set(connection, container);
      if (stranger?.of !== container) traffic.began();
      traffic.connected(connection);
      return container;
    }
    if (stranger !== undefined) stranger.refusals++;
    if ((stranger?.refusals ?? 0) > limits.strangerRefusals.value) connection.destroy();
    throw apiError('ContractTokenInvalid');
  }
}
