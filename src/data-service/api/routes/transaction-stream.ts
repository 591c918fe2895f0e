/** The stream of new transactions (data-service.md#stream). */

import { EVENT_STREAM_TYPE, eventStream } from '../../../rest-framework/answer.ts';
import { Type } from '../../../rest-framework/type.ts';
import { requireIndexes, tipOf } from '../reading.ts';
import { routesIn } from '../services.ts';
import { checkFilter, filterParams } from '../transaction-filter.ts';

const LAST_ID = 'last-event-id';
const { index: _index, limit: _limit, sort: _sort, ...query } = filterParams;

const route = routesIn('transactions');

const stream = route({
  method: 'GET',
  path: '/transactions/stream',
  access: 'apiKey',
  doc: 'New transactions as server-sent events; Last-Event-ID goes on after that event.',
  query,
  check: checkFilter,
  keep: [LAST_ID],
  cost: { streamed: true },
  reply: Type.String({
    description:
      'Events: transactions; rollback, with the height that stays; final, with the height up to which blocks are final; end.',
  }),
  replyType: EVENT_STREAM_TYPE,
  async handle({ query: filter, http }, services) {
    const filterText = http.query;
    const lastId = http.header(LAST_ID).trim();
    await requireIndexes(services);
    await tipOf(services);
    const { first, stream } = await services
      .streams()
      .open({ filter, filterText, client: services.client ?? '', lastId });
    return eventStream(first, stream);
  },
});

export const transactionStream = { stream };
