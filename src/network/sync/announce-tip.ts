/**
 * Announces our head to the peers (network.md#messages).
 *
 * Invariants: at most once a second to each, or at once after a rollback, and at least often enough
 * to keep the session alive.
 */
import type { Clock } from '../../base/ports/clock.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { blockProtocols, encodeTip } from '../messages/block-messages.ts';
import type { Session, Sessions } from '../sessions/session.ts';

export interface AnnounceTipPorts {
  readonly scheme: ChainScheme;
  readonly blockchain: Pick<Blockchain, 'listen' | 'tip'>;
  readonly sessions: Pick<Sessions, 'onOpen' | 'onClose'>;
  readonly clock: Clock;
}

interface Listener {
  announcedAt: number;
  cancel: () => void;
}

const ANNOUNCE_EVERY_MS = 1_000;
const HEARTBEAT_MS = 20_000;

/** Returns the function that stops it. */
export function announceTip(ports: AnnounceTipPorts): () => void {
  const { scheme, blockchain, sessions, clock } = ports;
  const listeners = new Map<Session, Listener>();
  let stopped = false;

  sessions.onOpen((session) => {
    const listener = { announcedAt: 0, cancel: () => {} };
    listeners.set(session, listener);
    announceTo(session, listener);
  });
  sessions.onClose((session) => {
    listeners.get(session)?.cancel();
    listeners.delete(session);
  });
  const stopListening = blockchain.listen({ block: announce, rolledBack: announceRollback });

  /** At once: a peer that asks for blocks of the old head would treat it as false. */
  function announceRollback(): void {
    for (const [session, listener] of listeners) announceTo(session, listener);
  }

  function announce(): void {
    for (const [session, listener] of listeners) {
      const waitMs = listener.announcedAt + ANNOUNCE_EVERY_MS - clock.monotonic();
      if (waitMs <= 0) announceTo(session, listener);
      else schedule(session, listener, waitMs);
    }
  }

  function announceTo(session: Session, listener: Listener): void {
    if (stopped || listeners.get(session) !== listener) return;
    listener.announcedAt = clock.monotonic();
    session.notify(blockProtocols.head, encodeTip(blockchain.tip(), scheme));
    schedule(session, listener, HEARTBEAT_MS);
  }

  function schedule(session: Session, listener: Listener, ms: number): void {
    listener.cancel();
    listener.cancel = clock.after(ms, () => announceTo(session, listener));
  }

  return () => {
    stopped = true;
    stopListening();
    for (const { cancel } of listeners.values()) cancel();
  };
}
