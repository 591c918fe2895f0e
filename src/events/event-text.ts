/**
 * The events of a chain as server-sent events (text/event-stream of HTML). The stream of a node and
 * that of the data service have the same definitions (rest.md#events).
 */
import { stringify } from '../base/json/json.ts';

/** What happened, by the names that clients listen for. */
export const eventKinds = {
  transaction: 'A transaction that has got into a block, as in /transactions/info/{id}.',
  contractResult: 'What a contract has written for a call, a creation or an update.',
  block: 'A header, after all other events of its block, as in /blocks/headers/at/{height}.',
  final: 'A height up to which all blocks stay, where voters make blocks final.',
  policyData: 'Confidential data that have come to this node.',
} as const;

export type EventKind = keyof typeof eventKinds;

/** Why the server ends a stream. */
export type EndReason = 'end' | 'slow' | 'stopping' | 'query' | 'place' | 'key';

const MESSAGES: Readonly<Record<EndReason, string>> = {
  end: 'Nothing more has happened so far',
  slow: 'The client takes too little; it may go on with the last id',
  stopping: 'The server stops; the client may go on with the last id at another one',
  query: 'Query took too long, narrow the filters',
  key: 'The key of the request has ended or was taken back',
  place:
    'The last id is not known here, the client begins anew: without it the stream begins with the next block',
};

/** After an interruption a client waits this long. */
const RETRY_MS = 1000;

/** A line of its own kind, which clients ignore. */
export const FILLER = ':\n';

/** The id alone: it moves the place of the client, and its program hears nothing of it. */
export const placeEvent = (id: string): string => `id: ${id}\n\n`;

/** The beginning of an answer; undefined where no place is known. */
export const firstEvent = (id: string | undefined): string =>
  `retry: ${RETRY_MS}\n${id === undefined ? '\n' : placeEvent(id)}`;

/** What comes before the JSON of an event, which is one line. */
export const eventHead = (kind: EventKind | 'rollback', id: string): string =>
  `event: ${kind}\nid: ${id}\ndata: `;

/** What comes behind it. */
export const EVENT_TAIL = '\n\n';

export const eventText = (kind: EventKind | 'rollback', id: string, json: string): string =>
  eventHead(kind, id) + json + EVENT_TAIL;

/** All blocks above this height have been removed. */
export const rollbackEvent = (height: number, id: string): string =>
  eventText('rollback', id, stringify({ height }));

/** All blocks up to this height stay. */
export const finalEvent = (height: number, id: string): string =>
  eventText('final', id, stringify({ height }));

export const endEvent = (reason: EndReason): string =>
  `event: end\ndata: ${stringify({ reason, message: MESSAGES[reason] })}\n\n`;
