/**
 * The gRPC interface to containers (contracts.md#the-grpc-interface), over one socket file for each
 * container or over one TCP port for all.
 */
import type { Clock } from '../../../base/ports/clock.ts';
import type { Log } from '../../../base/ports/log.ts';
import type { Random } from '../../../base/ports/random.ts';
import { aborted } from '../calls.ts';
import type { ContainerInterface } from '../container-interface.ts';
import { CLOSED, endedBy, GrpcContainer } from './container.ts';
import { readMessages } from './messages.ts';
import { listenOnSockets } from './sockets.ts';
import { listenOnTcp } from './tcp.ts';
import { newToken } from './tokens.ts';

export interface GrpcOptions {
  /**
   * The folder of the socket files belongs to this node alone, and the machine of the engine must
   * have it too.
   */
  readonly listen:
    | { readonly kind: 'unix'; readonly folder: string }
    | { readonly kind: 'tcp'; readonly host: string; readonly port: number };
  /** No token lives longer. */
  readonly tokenLifetimeMs: number;
}

export interface GrpcPorts {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  readonly random: Random;
  readonly log: Log;
}

/** Rejects where the folder or the port cannot be used. */
export async function grpcInterface(
  { listen, tokenLifetimeMs }: GrpcOptions,
  { clock, random, log }: GrpcPorts,
): Promise<ContainerInterface> {
  const messages = readMessages();
  const reachable =
    listen.kind === 'unix'
      ? listenOnSockets(listen.folder, { clock, random })
      : await listenOnTcp(listen, clock);
  return {
    needsNetwork: reachable.needsNetwork,
    close: () => reachable.close(),

    async open(of) {
      const { connectionId } = of;
      const connectionToken = newToken(random);
      const container = new GrpcContainer(
        { connectionId, connectionToken, tokenLifetimeMs },
        messages,
        clock,
      );
      const reached = await reachable.open(container, of);
      const ended = container.ended.then((why) => {
        if (why !== CLOSED) log.warn('contract.disconnected', { connection: connectionId, why });
        return reached.close();
      });
      return {
        setup: {
          env: {
            CONNECTION_ID: connectionId,
            CONNECTION_TOKEN: connectionToken,
            NODE: reached.node,
            NODE_PORT: reached.nodePort,
          },
          mounts: reached.mounts,
        },
        ready: (_containerId, signal) => ready(container, signal),
        run: (execution, signal) => container.run(execution, signal),
        ended,
        async close() {
          container.close();
          await ended;
        },
      };
    },
  };
}

function ready(container: GrpcContainer, signal: AbortSignal): Promise<void> {
  container.started();
  const early = container.ended.then((why) => {
    throw endedBy(why);
  });
  return Promise.race([container.connected, early, aborted(signal)]);
}
