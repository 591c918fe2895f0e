/** What one container may send to the gRPC interface (contracts.md#limits-of-the-grpc-interface). */
import { KIB, MIB } from '../../../base/budget.ts';

/** One message of a container. */
export const MESSAGE_BYTES_MAX = 4 * MIB;
/** A message with the results of a call. */
export const RESULTS_BYTES_MAX = MIB;
/** Fields of a message: a 105 holds no more entries of the smallest size. */
export const FIELDS_MAX = 65_536;
/** Messages of a container that have begun to arrive, together. */
export const ARRIVING_BYTES_MAX = 8 * MIB;
/** A piece of a message counts as one of this length at least. */
export const PIECE_BYTES_MIN = 256;
/** A message has arrived in this time, and an answer has been taken. */
export const MESSAGE_MS_MAX = 10_000;
/** The message of Connect holds an id. */
export const CONNECT_BYTES_MAX = KIB;
/** Answers that a container has not taken yet, together. */
export const LEAVING_BYTES_MAX = 16 * MIB;

/** An SDK opens one connection a thread. */
export const CONNECTIONS_MAX = 16;
/** Of all containers, where they share a TCP port. */
export const TCP_CONNECTIONS_MAX = 1024;
/** Connections of one address that have shown no token yet; containers may share an address. */
export const STRANGERS_MAX = 64;
export const STREAMS_MAX = 64;
export const HEADER_BYTES_MAX = 8 * KIB;

/** Requests during one call, those that the budget of reads refuses included. */
export const REQUESTS_PER_CALL_MAX = 20_000;
/** Refused requests in the life of a container, outside its calls above all. */
export const REFUSALS_MAX = 200;
/** Whatever a container sends within one interval, valid or not. */
export const RECEIVED_BYTES_MAX = 16 * MIB;
export const RECEIVED_INTERVAL_MS = 500;

/** The whole path of a socket file; the operating system takes 107 bytes. */
export const SOCKET_PATH_BYTES_MAX = 107;
/** New connections of one container within one interval. */
export const NEW_CONNECTIONS_MAX = 64;
/** A TCP connection must show a token within this time, and may show so many wrong ones. */
export const STRANGER_MS_MAX = 20_000;
export const STRANGER_REFUSALS_MAX = 20;
