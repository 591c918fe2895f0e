/**
 * A door before a server: each address has so many connections. The native server cannot tell them
 * apart, since it does not say whose connection has ended.
 */

import { connect, createServer, type Socket } from 'node:net';
import type { Http, HttpRoute, HttpServer, HttpServerOptions } from '../../base/ports/http.ts';
import { Counts } from '../../concurrency/counts.ts';
import { listening, portOf } from '../listening.ts';

export interface HostDoor {
  readonly port: number;
  /** Ends all connections. */
  close(): Promise<void>;
}

export interface HostDoorOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Where the server listens on this machine. */
  readonly serverPort: number;
  readonly connectionsMax: number;
  readonly connectionsOfHost: (host: string) => number;
  /** For a client to take more of what waits for it, or it loses the connection; absent: 10 s. */
  readonly unreadMs?: number;
}

const LOOPBACK = '127.0.0.1';
/** As long as the native server waits. */
const UNREAD_MS = 10_000;

/** Rejects where the port is taken. */
export async function openHostDoor(options: HostDoorOptions): Promise<HostDoor> {
  const { host, port, connectionsMax, connectionsOfHost } = options;
  const hosts = new Counts<string>();
  const clients = new Set<Socket>();

  function admit(client: Socket): void {
    const address = client.remoteAddress ?? '';
    // Followed by `close`.
    client.on('error', () => {});
    // The whole address: containers share their first 64 bits.
    if (hosts.of(address) >= connectionsOfHost(address)) {
      client.destroy();
      return;
    }
    hosts.add(address, 1);
    clients.add(client);
    client.once('close', () => {
      clients.delete(client);
      hosts.add(address, -1);
    });
    lead(client, options);
  }

  const door = createServer(admit);
  door.maxConnections = connectionsMax;
  await listening(door, { host, port });
  return {
    port: portOf(door) ?? port,
    async close() {
      const closed = new Promise<void>((resolve) => door.close(() => resolve()));
      for (const client of clients) client.destroy();
      await closed;
    },
  };
}

function lead(client: Socket, { serverPort, unreadMs = UNREAD_MS }: HostDoorOptions): void {
  const server = connect(serverPort, LOOPBACK);
  server.on('error', () => {});
  client.once('close', () => server.destroy());
  // What the server has sent before its end still arrives.
  server.once('close', () => client.destroySoon());
  // The server cannot end it: what it has sent, its end included, waits here.
  client.setTimeout(unreadMs, () => {
    if (client.writableLength > 0) client.destroy();
  });
  client.pipe(server).pipe(client);
}

/** The server itself listens for this machine alone. Rejects where the port is taken. */
export async function listenBehindDoor(
  http: Http,
  routes: readonly HttpRoute[],
  options: HttpServerOptions & { readonly maxConnections: number },
  connectionsOfHost: (host: string) => number,
): Promise<HttpServer> {
  const { host, port, maxConnectionsOfHost: _, ...rest } = options;
  const server = await http.listen(routes, { ...rest, host: '127.0.0.1', port: 0 });
  const { maxConnections: connectionsMax } = rest;
  const of = { host, port, serverPort: server.port, connectionsMax, connectionsOfHost };
  try {
    const door = await openHostDoor(of);
    return {
      port: door.port,
      reload: () => server.reload(),
      certificateEnd: () => server.certificateEnd?.(),
      async close() {
        await server.close();
        await door.close();
      },
    };
  } catch (cause) {
    await server.close();
    throw cause;
  }
}
