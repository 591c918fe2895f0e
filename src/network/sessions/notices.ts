/**
 * Notices of one session: a stream for each protocol and direction, opened when first used and kept.
 *
 * Outgoing notices wait in a queue of bounded length; incoming ones are read no faster than the
 * pace allows, and passed on one by one.
 */

import { pause, within } from '../../base/deadline.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { PeerConnection, PeerStream } from '../../base/ports/network.ts';
import type { Pace } from './pace.ts';

/** The most notices that wait for one peer, for each protocol. */
const QUEUE_COUNT_MAX = 2000;
const QUEUE_BYTES_MAX = 8 * 1024 * 1024;
const OPEN_MS_MAX = 10_000;
/** A peer that reads nothing for this long counts as gone. */
const SEND_MS_MAX = 60_000;

export interface NoticeQueue {
  /** False when the queue is full. */
  put(message: Uint8Array): boolean;
}

export function createNoticeQueue(
  connection: PeerConnection,
  protocol: string,
  clock: Clock,
  onFailure: (why: string) => void,
): NoticeQueue {
  const queue: Uint8Array[] = [];
  let bytes = 0;
  let stream: PeerStream | undefined;
  let sending = false;

  async function run(): Promise<void> {
    sending = true;
    try {
      stream ??= await within(clock, OPEN_MS_MAX, 'a stream was not accepted in time', (signal) =>
        connection.open(protocol, 0, signal),
      );
      const open = stream;
      for (let message = queue.shift(); message !== undefined; message = queue.shift()) {
        bytes -= message.length;
        const next = message;
        await within(clock, SEND_MS_MAX, 'notices were not taken in time', () => open.send(next));
      }
    } catch (cause) {
      onFailure(`${protocol}: ${(cause as Error).message}`);
    } finally {
      sending = false;
    }
  }

  return {
    put(message) {
      if (queue.length >= QUEUE_COUNT_MAX || bytes + message.length > QUEUE_BYTES_MAX) return false;
      queue.push(message);
      bytes += message.length;
      if (!sending) void run();
      return true;
    },
  };
}

export interface NoticeReader {
  readonly clock: Clock;
  readonly pace: Pace;
  /** An error ends the session. */
  take(message: Uint8Array): void;
  onFlood(): void;
  /** False once the session is over. */
  isOpen(): boolean;
}

/** Reads until the other side ends the stream. Rejects when it breaks. */
export async function readNotices(stream: PeerStream, reader: NoticeReader): Promise<void> {
  const { clock, pace } = reader;
  for (;;) {
    const message = await stream.receive();
    if (message === undefined || !reader.isOpen()) return;
    reader.take(message);
    const waitMs = pace.spend(message.length);
    if (waitMs === 0) continue;
    if (pace.isFlood()) {
      reader.onFlood();
      return;
    }
    await pause(clock, waitMs);
  }
}
