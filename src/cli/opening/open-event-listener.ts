/** The service of events over gRPC, as the configuration says. */
import { StartError } from '../../base/faults/start-error.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ListenEvents } from '../../base/ports/event-service.ts';
import type { Config } from '../../node/config/settings.ts';

/** Undefined where it is switched off. What it returns rejects with StartError. */
export function eventListener({ api }: Config, clock: Clock): ListenEvents | undefined {
  const {
    enable,
    bindAddress: host,
    port,
    maxConnections,
    maxConnectionsPerClient,
  } = api.grpc.events;
  if (!enable) return undefined;
  const most = {
    subscriptionsMax: maxConnections,
    subscriptionsOfClientMax: maxConnectionsPerClient,
  };
  return async (service) => {
    const { listenForSubscribers } = await import('../../adapters/grpc-events/event-listener.ts');
    try {
      return await listenForSubscribers({ host, port, ...most }, service, clock);
    } catch (cause) {
      throw StartError.ofAddress(
        `listener for events on ${host}:${port}`,
        'api.grpc.events.bind-address, api.grpc.events.port',
        cause,
      );
    }
  };
}
