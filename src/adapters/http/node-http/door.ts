/** Listens on a port, and gives the connections to the latest app. */
import { createServer, type Server, type Socket } from 'node:net';
import { listening } from '../../listening.ts';
import type { App, Door } from '../app.ts';

export interface SocketApp extends App {
  accept(socket: Socket): void;
}

/**
 * A server of Node accepts one connection in a turn of the event loop, and a turn takes
 * milliseconds where there is much to do. So several servers share the port where the system can.
 */
const SERVERS = process.platform === 'linux' ? 8 : 1;

export function portDoor(host: string, port: number): Door {
  let app: SocketApp;
  let servers: readonly Server[] | undefined;
  const take = (socket: Socket): void => app.accept(socket);
  return {
    async open(next) {
      app = next as SocketApp;
      servers ??= await listen(host, port, take);
    },
    close() {
      for (const server of servers ?? []) server.close();
      servers = undefined;
    },
  };
}

async function listen(
  host: string,
  port: number,
  take: (socket: Socket) => void,
): Promise<readonly Server[]> {
  const servers: Server[] = [];
  try {
    for (let i = 0; i < SERVERS; i++) servers.push(await listenOnce(host, port, take));
  } catch (cause) {
    for (const server of servers) server.close();
    throw new Error(`HTTP: cannot listen on ${host}:${port}`, { cause });
  }
  return servers;
}

async function listenOnce(
  host: string,
  port: number,
  take: (socket: Socket) => void,
): Promise<Server> {
  // A client that has ended its side may still get its answer.
  const server = createServer({ noDelay: true, allowHalfOpen: true }, take);
  await listening(server, { host, port, reusePort: SERVERS > 1 });
  return server;
}
