/** The events of the chain: their source, and the streams of clients. */

import type { Clock } from '../base/ports.ts';
import type { Blockchain } from '../chain/blockchain.ts';
import { type ChainFeed, createChainFeed } from '../events/chain-feed.ts';
import { createEventStreams, type EventStreams } from '../events/event-streams.ts';
import type { Privacy } from '../privacy/privacy-service.ts';
import { headerJson } from '../rest/block-json.ts';
import { print } from '../rest-framework/answer.ts';
import { apiSettings } from './api-settings.ts';
import type { Config } from './config/settings.ts';

export interface EventParts {
  readonly blockchain: Blockchain;
  readonly privacy: Privacy | undefined;
  readonly clock: Clock;
}

export interface NodeEvents {
  readonly feed: ChainFeed;
  readonly streams: EventStreams;
  stop(): Promise<void>;
}

export function openEvents(
  config: Pick<Config, 'restApi' | 'network'>,
  { blockchain, privacy, clock }: EventParts,
): NodeEvents {
  const feed = createChainFeed({ chain: blockchain, arrivals: privacy?.arrivals, clock });
  const { maxEventStreams, maxEventStreamsPerClient } = config.restApi;
  const settings = apiSettings(config);
  const { scheme } = blockchain.view;
  const streams = createEventStreams(
    { readersMax: maxEventStreams, readersOfClientMax: maxEventStreamsPerClient },
    {
      feed,
      clock,
      headerText: (height, row) => print(headerJson({ height, ...row }, { scheme, settings })),
    },
  );
  return {
    feed,
    streams,
    async stop() {
      await streams.stop();
      feed.stop();
    },
  };
}
