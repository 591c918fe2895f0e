/** How a request of gRPC ends: its status, and what the metadata after it say. */
import { isOurs } from '../../../base/assert.ts';
import { ApiError } from '../../../base/errors.ts';

const STATUS = {
  OK: 0,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

export type StatusName = Exclude<keyof typeof STATUS, 'OK'>;

/** A refusal that has no entry in the catalogue, because only gRPC knows it. */
export class GrpcRefusal extends Error {
  override name = 'GrpcRefusal';
  readonly status: StatusName;

  constructor(status: StatusName, message: string) {
    super(message);
    this.status = status;
  }
}

export type Trailers = Readonly<Record<string, string>>;

export const OK_TRAILERS: Trailers = { 'grpc-status': '0' };

const BY_HTTP_STATUS: Readonly<Record<number, StatusName>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'UNAVAILABLE',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'UNAVAILABLE',
};

/** A fault of this node is thrown on; any other error has a status. */
export function trailersOf(cause: unknown): Trailers {
  if (isOurs(cause)) throw cause;
  if (cause instanceof GrpcRefusal) {
    return { 'grpc-status': String(STATUS[cause.status]), 'grpc-message': ascii(cause.message) };
  }
  if (cause instanceof ApiError) {
    const message = ascii(cause.message);
    return {
      'grpc-status': String(STATUS[BY_HTTP_STATUS[cause.status] ?? 'UNKNOWN']),
      'grpc-message': message,
      'error-code': String(cause.code),
      'error-message': message,
    };
  }
  return { 'grpc-status': String(STATUS.INTERNAL), 'grpc-message': 'Internal error' };
}

const MESSAGE_CHARS_MAX = 1000;

/** Percent-encoded, as gRPC prescribes for its own message: metadata are ASCII. */
function ascii(message: string): string {
  return message
    .slice(0, MESSAGE_CHARS_MAX)
    .toWellFormed()
    .replaceAll(/[^ -$&-~]+/gu, (other) => encodeURIComponent(other));
}
