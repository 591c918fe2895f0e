/** Shows the peers that this node is alive, and ends sessions with dead peers. */
import type { Clock } from '../../base/ports/clock.ts';
import { every } from '../../concurrency/interval.ts';
import type { ConnectedSession } from './connected-session.ts';
import type { NoticeHandler } from './session.ts';

export const ALIVE = 'alive/1';
export const aliveHandler: NoticeHandler = { messageBytesMax: 0, take: () => {} };

const ALIVE_MS_MAX = 20_000;

/** Returns the function that stops it. A session without a message for `idleMs` is closed. */
export function startHeartbeat(
  idleMs: number,
  clock: Clock,
  sessions: () => readonly ConnectedSession[],
): () => void {
  const aliveMs = Math.min(ALIVE_MS_MAX, Math.floor(idleMs / 3));
  return every(clock, aliveMs, () => {
    const now = clock.monotonic();
    for (const session of sessions()) {
      if (now - session.lastHeard() > idleMs) session.close('no message for too long');
      else session.notify(ALIVE, new Uint8Array(0));
    }
  });
}
