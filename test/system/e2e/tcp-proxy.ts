/**
 * A TCP proxy that can act as a bad network: in each direction bytes flow, flow late, or wait.
 * Waiting bytes and ends of connections arrive when the direction opens again, as with a real
 * partition.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';

/** What becomes of the bytes of one direction. */
export type Flow = 'open' | 'held' | { readonly delayMs: number };

export interface TcpProxy {
  readonly port: number;
  /** Bytes from those who connect to the target, and back. */
  forth(flow: Flow): void;
  back(flow: Flow): void;
  /** Ends all connections; those to come end at once until `allow`. */
  refuse(): void;
  allow(): void;
  /** Keeps the bytes of both directions from now on; gives those of each connection so far. */
  record(): () => readonly Buffer[];
  close(): void;
}

const HOST = '127.0.0.1';

export async function startProxy(target: number): Promise<TcpProxy> {
  const [forth, back] = [new Direction(), new Direction()];
  const sockets = new Set<Socket>();
  let refused = false;
  /** Source of bytes → what it has sent. */
  const records: Map<Socket, Buffer[]>[] = [];

  function recordOf(source: Socket): void {
    source.on('data', (bytes: Buffer) => {
      for (const record of records) {
        const parts = record.get(source);
        if (parts === undefined) record.set(source, [bytes]);
        else parts.push(bytes);
      }
    });
  }

  const server: Server = createServer({ allowHalfOpen: true }, (near) => {
    if (refused) {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ port: target, host: HOST, allowHalfOpen: true });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('close', () => sockets.delete(socket));
      recordOf(socket);
    }
    forth.join(near, far);
    back.join(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const { port } = server.address() as { port: number };

  function endAll(): void {
    for (const socket of sockets) socket.destroy();
  }
  return {
    port,
    forth: (flow) => forth.set(flow),
    back: (flow) => back.set(flow),
    refuse() {
      refused = true;
      endAll();
    },
    allow() {
      refused = false;
    },
    record() {
      const record = new Map<Socket, Buffer[]>();
      records.push(record);
      return () => Array.from(record.values(), (parts) => Buffer.concat(parts));
    },
    close() {
      server.close();
      endAll();
    },
  };
}

/** One direction of all connections. Order is kept, whatever the delay. */
class Direction {
  private flow: Flow = 'open';
  private readonly sources = new Set<Socket>();
  private readonly waiting: (() => void)[] = [];

  set(flow: Flow): void {
    this.flow = flow;
    if (flow === 'held') {
      for (const source of this.sources) source.pause();
      return;
    }
    for (const action of this.waiting.splice(0)) action();
    for (const source of this.sources) source.resume();
  }

  join(source: Socket, sink: Socket): void {
    this.sources.add(source);
    source.on('data', (bytes) => this.pass(() => sink.write(bytes)));
    source.on('end', () => this.pass(() => sink.end()));
    source.on('error', () => {});
    source.on('close', () => {
      this.sources.delete(source);
      this.pass(() => sink.destroy());
    });
    if (this.flow === 'held') source.pause();
  }

  private pass(action: () => void): void {
    if (this.flow === 'held') this.waiting.push(action);
    else if (this.flow === 'open') action();
    else setTimeout(action, this.flow.delayMs);
  }
}
