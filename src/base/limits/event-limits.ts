/**
 * The limits of those who listen to events, over `/events`, over the stream of the data service and
 * over gRPC, each once, with the words in which docs/protocol/rest.md states it. The numbers of clients
 * are settings.
 */
import { MIB } from './budget.ts';
import { limit } from './contract-limits.ts';

export const eventLimits = {
  apart: limit(2, '', 'clients at a time for whom the past is read, or whose turns take long'),
  turn: limit(250, 'ms', 'the longest turn of one beside others'),
  waiting: limit(16 * MIB, 'bytes', 'what waits for all clients together'),
  take: limit(5_000, 'ms', 'time for a client to take what is sent'),
  takeCrowded: limit(1_000, 'ms', 'the same while nothing more may wait, over gRPC too'),
  ahead: limit(
    30_000,
    'ms',
    'for which a stream waits for the block of `Last-Event-ID` that is above the last one',
  ),
  takeGrpc: limit(10_000, 'ms', 'time for a subscriber over gRPC to take an event'),
  filters: limit(16, '', 'filters of a subscription over gRPC'),
  values: limit(
    100,
    '',
    'types and contracts of such a filter, and values of a parameter of `/events`',
  ),
  request: limit(16 * 1024, 'bytes', 'request for a subscription over gRPC'),
  requests: limit(100, '', 'requests of a connection over gRPC in 10 s; more end it'),
  idleConnections: limit(32, '', 'connections over gRPC without a subscription'),
  idleOfAddress: limit(8, '', 'of them those of one address'),
  idle: limit(30_000, 'ms', 'for which such a connection stays open'),
  silent: limit(60_000, 'ms', 'for which a connection over gRPC may answer no ping'),
} as const;
