/**
 * The message of a request: flag 1 (0: not compressed) | length 4 | bytes. Exactly one in each
 * request of a container.
 */
import type { ServerHttp2Stream } from 'node:http2';
import { GrpcRefusal } from './status.ts';

export const FRAME_HEAD_BYTES = 5;

export function frame(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEAD_BYTES + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, FRAME_HEAD_BYTES);
  return bytes;
}

/** Bytes of unfinished messages of one container. */
export interface Arriving {
  bytes: number;
}

export interface ArrivingLimits {
  readonly messageBytesMax: number;
  readonly arrivingBytesMax: number;
}

/** Calls `done` with the message, or with the refusal, and at most once. */
export function receiveMessage(
  stream: ServerHttp2Stream,
  arriving: Arriving,
  limits: ArrivingLimits,
  done: (message: Uint8Array | GrpcRefusal) => void,
): void {
  const pieces: Buffer[] = [];
  let held = 0;
  let isOver = false;
  const end = (outcome?: Uint8Array | GrpcRefusal): void => {
    if (isOver) return;
    isOver = true;
    arriving.bytes -= held;
    pieces.length = 0;
    if (outcome !== undefined) done(outcome);
  };
  stream.on('data', (piece: Buffer) => {
    if (isOver) return;
    held += piece.length;
    arriving.bytes += piece.length;
    const tooBig =
      held > limits.messageBytesMax + FRAME_HEAD_BYTES || arriving.bytes > limits.arrivingBytesMax;
    if (tooBig) end(new GrpcRefusal('RESOURCE_EXHAUSTED', 'The message is too big'));
    else pieces.push(piece);
  });
  stream.once('end', () => {
    if (isOver) return;
    end(messageIn(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)));
  });
  stream.once('close', () => end());
}

function messageIn(bytes: Buffer): Uint8Array | GrpcRefusal {
  if (bytes.length < FRAME_HEAD_BYTES) {
    return new GrpcRefusal('INVALID_ARGUMENT', 'The request has no message');
  }
  if (bytes[0] !== 0) {
    return new GrpcRefusal('UNIMPLEMENTED', 'Compressed messages are not supported');
  }
  if (bytes.readUInt32BE(1) !== bytes.length - FRAME_HEAD_BYTES) {
    return new GrpcRefusal('INVALID_ARGUMENT', 'The request is not one message');
  }
  return bytes.subarray(FRAME_HEAD_BYTES);
}
