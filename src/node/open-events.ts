/** The events of the chain: their source, and the streams of clients. */

import type { Clock } from '../base/ports/clock.ts';
import type { EventService } from '../base/ports/event-service.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { finalFloor } from '../chain/finality/final-floor.ts';
import { ChainFeed } from '../events/chain-feed.ts';
import { createEventService } from '../events/event-service.ts';
import { EventStreams } from '../events/event-streams.ts';
import type { Privacy } from '../privacy/privacy-service.ts';
import { headerJson } from '../rest/block-json.ts';
import { print } from '../rest-framework/answer.ts';
import { apiSettings } from './api-settings.ts';
import type { Config } from './config/settings.ts';
import type { NodeMetrics } from './metrics/observability.ts';
import type { NodeFinality } from './open-finality.ts';

export interface EventParts {
  readonly blockchain: Blockchain;
  readonly privacy: Privacy | undefined;
  readonly finality: Pick<NodeFinality, 'onFinal'>;
  readonly clock: Clock;
  readonly metrics: Pick<NodeMetrics, 'eventReaders' | 'eventReadersEnded' | 'onRead'>;
}

export interface NodeEvents {
  readonly streams: EventStreams;
  /** The same events for a listener of gRPC. */
  readonly service: EventService;
  stop(): Promise<void>;
}

export function openEvents(
  config: Pick<Config, 'restApi' | 'network'>,
  { blockchain, privacy, finality, clock, metrics }: EventParts,
): NodeEvents {
  const feed = new ChainFeed({ chain: blockchain, arrivals: privacy?.arrivals, clock });
  const { maxEventStreams, maxEventStreamsPerClient } = config.restApi;
  const settings = apiSettings(config);
  const { scheme } = blockchain.view;
  const streams = new EventStreams(
    { readersMax: maxEventStreams, readersOfClientMax: maxEventStreamsPerClient },
    {
      feed,
      clock,
      final: {
        height: () => finalFloor(blockchain.view),
        listen(action) {
          finality.onFinal = action;
          return () => {
            finality.onFinal = () => {};
          };
        },
      },
      ended: (reason) => metrics.eventReadersEnded.add(1, { interface: 'rest', reason }),
      headerText: (height, row) => print(headerJson({ height, ...row }, { scheme, settings })),
    },
  );
  const service = createEventService(feed, clock, (reason) =>
    metrics.eventReadersEnded.add(1, { interface: 'grpc', reason }),
  );
  metrics.onRead(() => {
    metrics.eventReaders.set(streams.count(), { interface: 'rest' });
    metrics.eventReaders.set(service.count(), { interface: 'grpc' });
  });
  return {
    streams,
    service,
    async stop() {
      await streams.stop();
      feed.stop();
    },
  };
}
