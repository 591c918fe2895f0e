/**
 * Requests, each on a stream of its own:
 *
 *   →  the request
 *   ←  one byte: 0 and the next message is the answer, 1 and it is the reason of a refusal
 */
import { AssertionError } from '../base/assert.ts';
import { fromUtf8, utf8 } from '../base/bytes.ts';
import { within } from '../base/deadline.ts';
import type { PeerConnection, PeerStream } from '../base/network.ts';
import type { Clock } from '../base/ports.ts';
import { CodecError } from '../codec/codec.ts';

const ANSWERED = 0;
const REFUSED = 1;
const REASON_CHARS_MAX = 300;
/** For the request to arrive once its stream is open, and for the answer to be taken. */
const RECEIVE_MS_MAX = 20_000;
const SEND_MS_MAX = 60_000;

/**
 * No answer in time, nor anything else since the request: as if the line were dead, which is nobody's
 * fault. Who withholds an answer cannot help showing that it is alive.
 */
export class SilentLine extends Error {
  override name = 'SilentLine';
}

/** The other side has refused a request, in its own words. */
export class RequestRefused extends Error {
  override name = 'RequestRefused';
}

/** Opens a stream and lets go of it when `action` is over, fails or takes too long. */
export function converse<T>(
  connection: PeerConnection,
  protocol: string,
  messageBytesMax: number,
  clock: Clock,
  timeoutMs: number,
  action: (stream: PeerStream) => Promise<T>,
): Promise<T> {
  return within(clock, timeoutMs, `${protocol}: no answer in time`, async (signal) => {
    const stream = await connection.open(protocol, messageBytesMax, signal);
    signal.addEventListener('abort', () => stream.abort());
    if (signal.aborted) stream.abort();
    try {
      return await action(stream);
    } catch (cause) {
      stream.abort();
      throw cause;
    }
  });
}

/** The answer to a request. Rejects with RequestRefused where the other side gives none. */
export async function ask(
  stream: PeerStream,
  protocol: string,
  message: Uint8Array,
): Promise<Uint8Array> {
  await stream.send(message);
  await stream.end();
  const [status] = (await stream.receive()) ?? [];
  const answer = await stream.receive();
  if (answer === undefined || status === undefined || status > REFUSED) {
    throw new Error(`${protocol}: the answer is not whole`);
  }
  if (status === REFUSED) throw new RequestRefused(fromUtf8(answer) ?? 'refused');
  return answer;
}

/** Rejects with CodecError for a malformed request and MalformedStream for bad framing. */
export async function answerRequest(
  stream: PeerStream,
  clock: Clock,
  answer: (message: Uint8Array) => Promise<Uint8Array>,
): Promise<void> {
  try {
    const message = await within(clock, RECEIVE_MS_MAX, 'the request did not arrive in time', () =>
      stream.receive(),
    );
    if (message === undefined) return stream.abort();
    const [status, bytes] = await answer(message).then(
      (bytes) => [ANSWERED, bytes] as const,
      (cause: unknown) => {
        if (isOurs(cause) || cause instanceof CodecError) throw cause;
        return [REFUSED, utf8((cause as Error).message.slice(0, REASON_CHARS_MAX))] as const;
      },
    );
    await within(clock, SEND_MS_MAX, 'the answer was not taken in time', async () => {
      await stream.send(Uint8Array.of(status));
      await stream.send(bytes);
      await stream.end();
    });
  } catch (cause) {
    stream.abort();
    throw cause;
  }
}

/** A fault of this node: nobody catches it, so that the node stops. */
export const isOurs = (cause: unknown): boolean => cause instanceof AssertionError;
