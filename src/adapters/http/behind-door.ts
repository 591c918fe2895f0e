/** A server with a door before it, which limits the connections of each address. */
import type { Http, HttpRoute, HttpServer, HttpServerOptions } from '../../base/http.ts';
import { openHostDoor } from './host-door.ts';

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
