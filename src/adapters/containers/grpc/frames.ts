/**
 * The message of a request: flag 1 (0: not compressed) | length 4 | bytes. Exactly one in each
 * request of a container.
 */
import type { Readable } from 'node:stream';
import { contractLimits as limits } from '../../../base/limits/contract-limits.ts';
import type { Clock } from '../../../base/ports/clock.ts';
import { GrpcRefusal } from './status.ts';

export const FRAME_HEAD_BYTES = 5;

export function frame(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEAD_BYTES + message.length);
  bytes[0] = 0;
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, FRAME_HEAD_BYTES);
  return bytes;
}

/** What the node holds for one container: bytes of unfinished requests and of unsent answers. */
export interface HeldBytes {
  arriving: number;
  leaving: number;
}

export const nothingHeld = (): HeldBytes => ({ arriving: 0, leaving: 0 });

type Receiving = Pick<Readable, 'on' | 'once'>;

/**
 * Calls `done` with the message, or with the refusal, and at most once. The message owns its
 * memory, which grows with what has arrived: a piece may be one byte of a read of 64 KiB. Each piece
 * counts as a longer one, because it takes time whatever its length.
 */
export function receiveMessage(
  stream: Receiving,
  of: HeldBytes,
  messageBytesMax: number,
  clock: Pick<Clock, 'after'>,
  done: (message: Uint8Array | GrpcRefusal) => void,
): void {
  let bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  let filled = 0;
  let charged = FIRST_BYTES;
  of.arriving += charged;
  const end = (outcome?: Uint8Array | GrpcRefusal): void => {
    if (charged === 0) return;
    of.arriving -= charged;
    charged = 0;
    bytes = NOTHING;
    forget();
    if (outcome !== undefined) done(outcome);
  };
  const forget = clock.after(limits.messageTime.value, () =>
    end(new GrpcRefusal('DEADLINE_EXCEEDED', 'The message takes too long')),
  );
  stream.on('data', (piece: Buffer) => {
    if (charged === 0) return;
    const needed = filled + piece.length;
    const charge = Math.max(piece.length, limits.piece.value);
    charged += charge;
    of.arriving += charge;
    if (needed > messageBytesMax + FRAME_HEAD_BYTES || of.arriving > limits.arriving.value) {
      end(new GrpcRefusal('RESOURCE_EXHAUSTED', 'The message is too big'));
      return;
    }
    if (needed > bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * bytes.length));
      bytes.copy(grown, 0, 0, filled);
      bytes = grown;
    }
    piece.copy(bytes, filled);
    filled = needed;
  });
  stream.once('end', () => end(messageIn(bytes.subarray(0, filled))));
  stream.once('close', () => end());
}

/** Most messages of a contract are no longer. */
const FIRST_BYTES = 256;
const NOTHING = Buffer.alloc(0);

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
