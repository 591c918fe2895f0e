/** The events of the chain as they happen (rest.md#events). */

import { latin1 } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import { clientOf } from '../../base/ip-range.ts';
import type { HttpRequest } from '../../base/ports/http.ts';
import { type EventKind, eventKinds } from '../../events/event-text.ts';
import { type NamedPlace, readPlace } from '../../events/place.ts';
import { EVENT_STREAM_TYPE, eventStream } from '../../rest-framework/answer.ts';
import { KEY_HEADERS } from '../../rest-framework/auth.ts';
import * as params from '../../rest-framework/params.ts';
import { Type } from '../../rest-framework/type.ts';
import { createGuards } from '../guards.ts';
import { limits } from '../limits.ts';
import { routesIn } from '../route.ts';
import type { Services } from '../services.ts';

const route = routesIn('events');

const LAST_ID = 'last-event-id';
const KINDS = Object.keys(eventKinds) as EventKind[];
/** Those that a client gets who names none. */
const PUBLIC_KINDS = KINDS.filter((kind) => kind !== 'policyData');

/** Values between commas. */
const listed = <T>(
  doc: string,
  each: string,
  parse: (text: string, scheme: Parameters<params.Param<T>['parse']>[1]) => T,
): params.Param<readonly T[] | undefined> => ({
  doc: `${doc} Several with commas between them; at most ${limits.eventValues}.`,
  schema: { type: 'string', pattern: `^${each}(,${each})*$` },
  optional: true,
  otherwise: undefined,
  parse(text, scheme) {
    const parts = text.split(',');
    if (parts.length > limits.eventValues) throw apiError('TooBigSequence');
    return parts.map((part) => parse(part, scheme));
  },
});

function kindOf(text: string): EventKind {
  const kind = KINDS.find((one) => one === text);
  if (kind !== undefined) return kind;
  throw apiError('Invalid', `Invalid parameter: kinds: one of ${KINDS.join(', ')}`);
}

function typeOf(text: string): number {
  if (/^\d{1,3}$/.test(text)) return Number(text);
  throw apiError('Invalid', 'Invalid parameter: type: numbers of transaction types');
}

const query = {
  kinds: listed(
    `What to tell of: ${KINDS.join(', ')}; without it all but policyData, which needs the privacy ` +
      'API key.',
    '[A-Za-z]+',
    kindOf,
  ),
  type: listed(
    'Types of transactions; a result of a contract also has that of its call.',
    '\\d{1,3}',
    typeOf,
  ),
  address: listed('Transactions in the lists of these addresses.', '[^,]+', (text, scheme) =>
    latin1(params.address.parse(text, scheme).bytes),
  ),
  asset: listed('Transactions that issue, move or change these assets.', '[^,]+', (text, scheme) =>
    latin1(params.transactionId.parse(text, scheme)),
  ),
  contract: listed('Transactions and results of these contracts.', '[^,]+', (text, scheme) =>
    latin1(params.contractId.parse(text, scheme)),
  ),
  from: params.optional(
    params.positive('Height of the first block to tell of; without it the next block.'),
    undefined,
  ),
  lastEventId: params.optional(
    params.text('As the header Last-Event-ID, which wins: goes on behind that event.'),
    '',
  ),
  follow: params.optional(
    params.flag('false: the answer ends where nothing more has happened yet.'),
    true,
  ),
};

/** Throws ApiError where the text is no id. */
function placeOf(lastId: string): NamedPlace | undefined {
  if (lastId === '') return undefined;
  const place = readPlace(lastId);
  if (place === undefined) {
    throw apiError('Invalid', 'Invalid parameter: Last-Event-ID: the id of an event');
  }
  return place;
}

/**
 * Whether the key of the request still opens these kinds, which a stream asks as long as it is open;
 * undefined where they need none. Throws ApiError where the request lacks it.
 */
function rightTo(
  kinds: ReadonlySet<EventKind>,
  http: HttpRequest,
  services: Services,
): (() => boolean) | undefined {
  if (!kinds.has('policyData')) return undefined;
  const guard = createGuards(services)('privacyKey');
  const refusal = guard?.(http);
  if (refusal !== undefined) throw refusal;
  const secrets = new Map<string, string>(KEY_HEADERS.map((name) => [name, http.header(name)]));
  // The request itself cannot be read after its answer has begun.
  const kept: HttpRequest = Object.create(http, {
    header: { value: (name: string) => secrets.get(name) ?? '' },
  });
  return () => guard?.(kept) === undefined;
}

const stream = route({
  method: 'GET',
  path: '/events',
  access: 'public',
  doc:
    'Blocks, transactions, results of contracts and rollbacks as server-sent events, from the ' +
    'chain itself: what has happened, then what happens. Last-Event-ID goes on behind an event.',
  query,
  keep: [LAST_ID, ...KEY_HEADERS],
  keepsAddress: true,
  reply: Type.String({
    description: `Events: ${KINDS.join(', ')}; rollback, with the height that stays; end.`,
  }),
  replyType: EVENT_STREAM_TYPE,
  handle({ query: asked, http }, services) {
    const kinds = new Set(asked.kinds ?? PUBLIC_KINDS);
    const mayListen = rightTo(kinds, http, services);
    const { type, address: addresses, asset: assets, contract: contracts, follow } = asked;
    const types = type && new Set(type);
    const filter = { kinds, types, addresses, assets, contracts };
    const { first, stream } = services.events.open({
      filter,
      filterText: JSON.stringify([[...kinds].sort(), type, addresses, assets, contracts]),
      client: clientOf(http.remoteAddress()),
      from: placeOf(http.header(LAST_ID).trim() || asked.lastEventId) ?? asked.from,
      follows: follow,
      mayListen,
    });
    return eventStream(first, stream);
  },
});

export const events = { stream };
