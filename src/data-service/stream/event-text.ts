/** Server-sent events (text/event-stream of HTML) as texts. */
import { stringify } from '../../base/json.ts';
import { type TxRow, transactionOf } from '../api/shapes.ts';
import { markOf, type Place, placeText } from './chain-place.ts';

/** After an interruption a client waits this long. */
const RETRY_MS = 1000;

/** A line of its own kind, which clients ignore. */
export const FILLER = ':\n';

/** The id alone: it moves the place of the client, and its program hears nothing of it. */
export const placeEvent = (place: Place): string => `id: ${placeText(place)}\n\n`;

export const firstEvent = (place: Place | undefined): string =>
  `retry: ${RETRY_MS}\n${place === undefined ? '\n' : placeEvent(place)}`;

export function transactionEvent(row: TxRow, { removedAt }: Place): string {
  const place = { seq: Number(row.seq), removedAt, mark: markOf(row.id) };
  return `id: ${placeText(place)}\ndata: ${stringify(transactionOf(row))}\n\n`;
}

export const rollbackEvent = (height: number, place: Place): string =>
  `event: rollback\nid: ${placeText(place)}\ndata: ${stringify({ height })}\n\n`;

/** Why the server ends a stream. */
export type EndReason = 'slow' | 'stopping' | 'query' | 'place';

const MESSAGES: Readonly<Record<EndReason, string>> = {
  slow: 'The client takes too little; it may go on with the last id',
  stopping: 'The server stops; the client may go on with the last id at another one',
  query: 'Query took too long, narrow the filters',
  place: 'This store does not know the last id; without it the stream begins with the next block',
};

export const endEvent = (reason: EndReason): string =>
  `event: end\ndata: ${stringify({ reason, message: MESSAGES[reason] })}\n\n`;
