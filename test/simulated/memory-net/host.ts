/** One host of a network in memory: its protocols, its listener and its connections. */
import type {
  Network,
  NetworkOptions,
  PeerConnection,
  ProtocolLimits,
} from '../../../src/base/ports/network.ts';
import type { MemoryConnection } from './connection.ts';
import type { Party, Protocol } from './link.ts';

/** What a host asks of the network around it. */
export interface Surroundings {
  connect(
    caller: MemoryHost,
    host: string,
    port: number,
    signal: AbortSignal,
  ): Promise<MemoryConnection>;
  /** Throws when the port is taken; gives the way to free it. */
  bind(host: MemoryHost, port: number): () => void;
}

const FIRST_FREE_PORT = 30_000;

export class MemoryHost implements Network, Party {
  readonly name: string;
  readonly id: Uint8Array;
  private readonly surroundings: Surroundings;
  private readonly protocols = new Map<string, Protocol>();
  private readonly listeners: ((connection: PeerConnection) => void)[] = [];
  private readonly connections = new Set<MemoryConnection>();
  private connectionsMax = 0;
  private lastPort = FIRST_FREE_PORT;
  private release = (): void => {};
  private gone = false;

  constructor(name: string, id: Uint8Array, surroundings: Surroundings) {
    this.name = name;
    this.id = id;
    this.surroundings = surroundings;
  }

  handle(protocol: string, limits: ProtocolLimits, handler: Protocol['handler']): void {
    this.protocols.set(protocol, { limits, handler });
  }

  onConnection(action: (connection: PeerConnection) => void): void {
    this.listeners.push(action);
  }

  async listen({ port, connectionsMax }: NetworkOptions): Promise<number | undefined> {
    this.connectionsMax = connectionsMax;
    if (port === undefined) return undefined;
    const chosen = port === 0 ? this.freePort() : port;
    this.release = this.surroundings.bind(this, chosen);
    return chosen;
  }

  dial(host: string, port: number, signal: AbortSignal): Promise<PeerConnection> {
    return this.surroundings.connect(this, host, port, signal);
  }

  async resolve(host: string): Promise<string> {
    return host;
  }

  async close(): Promise<void> {
    this.gone = true;
    this.release();
    for (const connection of [...this.connections]) connection.abort();
  }

  /** As when the power fails: nobody is told, and what is sent to its connections meets nobody. */
  vanish(): void {
    this.gone = true;
    this.release();
    for (const connection of this.connections) connection.vanish();
    this.connections.clear();
  }

  isGone(): boolean {
    return this.gone;
  }

  freePort(): number {
    return this.lastPort++;
  }

  protocol(name: string): Protocol | undefined {
    return this.protocols.get(name);
  }

  hasRoom(): boolean {
    return this.connections.size < this.connectionsMax;
  }

  add(connection: MemoryConnection): void {
    this.connections.add(connection);
    connection.onClose(() => void this.connections.delete(connection));
  }

  incoming(connection: MemoryConnection): void {
    for (const listener of this.listeners) listener(connection);
  }
}
