/**
 * Sends a message to a node repeatedly, over one stream or many, as fast as the node accepts it.
 */
import { concat } from '../../../src/base/bytes.ts';
import type { PeerStream } from '../../../src/base/ports/network.ts';
import type { AttackingPeer } from './peer.ts';

/** `conversation`: each message on a stream of its own; `abandoned`: which the sender then aborts. */
export type Kind = 'notice' | 'request' | 'conversation' | 'abandoned';

export interface Flood {
  readonly protocol: string;
  readonly kind: Kind;
  message(): Uint8Array;
  readonly streams: number;
  readonly forMs: number;
}

/** As requests stand on a stream: with their number in front. */
export function numbered(number: number, message: Uint8Array): Uint8Array {
  const head = new Uint8Array(4);
  new DataView(head.buffer).setUint32(0, number);
  return concat(head, message);
}

/** What came back meanwhile, in a few words. */
export async function flood(peer: AttackingPeer, of: Flood): Promise<string> {
  const { protocol, kind, message, streams, forMs } = of;
  const count = { sent: 0, answers: 0, bytes: 0, refused: 0 };
  const until = performance.now() + forMs;

  async function read(stream: PeerStream): Promise<void> {
    for (;;) {
      const answer = await stream.receive();
      if (answer === undefined) return;
      count.answers++;
      count.bytes += answer.length;
    }
  }

  async function write(stream: PeerStream): Promise<void> {
    for (let number = 1; performance.now() < until; number++) {
      await stream.send(kind === 'request' ? numbered(number, message()) : message());
      count.sent++;
      if (kind === 'conversation') return stream.end();
      if (kind === 'abandoned') return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function attack(): Promise<void> {
    do {
      const stream = await peer.open(protocol);
      // Neither waits for a node that holds the stream back.
      const timer = setTimeout(() => stream.abort(), Math.max(0, until - performance.now()));
      try {
        const reading = read(stream);
        reading.catch(() => {});
        await write(stream);
        if (kind === 'conversation') await reading;
        // Time for the message to arrive, since an abort overtakes it.
        if (kind === 'abandoned') await new Promise((resolve) => setTimeout(resolve, 20));
      } finally {
        clearTimeout(timer);
        stream.abort();
      }
    } while (performance.now() < until);
  }

  await Promise.all(
    Array.from({ length: streams }, () =>
      attack().catch(() => {
        if (performance.now() < until) count.refused++;
      }),
    ),
  );
  const kib = Math.round(count.bytes / 1024);
  const refused = count.refused === 0 ? '' : `, streams refused ×${count.refused}`;
  return `${count.sent} sent, ${count.answers} answers of ${kib} KiB${refused}`;
}
