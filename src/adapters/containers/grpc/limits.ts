/** What one container may send to the gRPC interface (contracts.md#limits-of-the-grpc-interface). */
import { contractLimits as limits } from '../../../base/contract-limits.ts';

export const MESSAGE_BYTES_MAX = limits.message.value;
export const RESULTS_BYTES_MAX = limits.results.value;
export const CONNECT_BYTES_MAX = limits.connect.value;
export const FIELDS_MAX = limits.fields.value;
export const RESULT_FIELDS_MAX = limits.resultFields.value;
export const REQUEST_FIELDS_MAX = limits.requestFields.value;
export const ARRIVING_BYTES_MAX = limits.arriving.value;
export const PIECE_BYTES_MIN = limits.piece.value;
export const MESSAGE_MS_MAX = limits.messageTime.value;
export const LEAVING_BYTES_MAX = limits.leaving.value;

export const CONNECTIONS_MAX = limits.connections.value;
export const TCP_CONNECTIONS_MAX = limits.tcpConnections.value;
export const STRANGERS_MAX = limits.strangers.value;
export const STRANGER_MS_MAX = limits.strangerTime.value;
export const STRANGER_REFUSALS_MAX = limits.strangerRefusals.value;
export const STREAMS_MAX = limits.streams.value;
export const HEADER_BYTES_MAX = limits.headers.value;

export const REQUESTS_PER_CALL_MAX = limits.requests.value;
export const REFUSALS_MAX = limits.refusals.value;
export const RECEIVED_BYTES_MAX = limits.received.value;
export const RECEIVED_INTERVAL_MS = limits.interval.value;
export const NEW_CONNECTIONS_MAX = limits.newConnections.value;

/** The whole path of a socket file; the operating system takes 107 bytes. */
export const SOCKET_PATH_BYTES_MAX = 107;
