/**
 * Ids come from the followed peer alone, so it could hold up the download with answers that are just in
 * time. While one is late, another peer that is ahead of us is asked the same, in turns. Where that one
 * answers first, and has the blocks named so far and more, the followed peer is left for it.
 *
 * Invariants: one other peer is asked for each late answer; no peer is left for one that was left so
 * itself a short while ago; to be left so is no offence, since a line may be long or full.
 */
import { unlessOurs } from '../../base/assert.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { decodeIds } from '../messages/block-messages.ts';
import type { Session } from '../sessions/session.ts';
import type { AskPeer } from './ask-peer.ts';
import { GivenUp, read } from './given-up.ts';
import type { PeerTips } from './peer-tips.ts';

export interface OutrunPorts {
  readonly scheme: ChainScheme;
  readonly peerTips: Pick<PeerTips, 'best' | 'isOutrun' | 'markOutrun'>;
  readonly clock: Clock;
  readonly ask: AskPeer;
}

/** Another peer has answered sooner. What was asked for before is still worth having. */
export class Outrun extends GivenUp {
  constructor() {
    super('another peer answers sooner', 'elsewhere');
  }
}

const LATE_MS = 500;

/** For the requests after the first ids of one followed peer. Rejects with Outrun, too. */
export function againstOthers(timeoutMs: number, ports: OutrunPorts): AskPeer {
  const { scheme, peerTips, clock, ask } = ports;
  const compared = new Set<Session>();

  function nextOther(session: Session): Session | undefined {
    const other = peerTips.best(new Set([session, ...compared]))?.session;
    if (other !== undefined || compared.size === 0) return other;
    compared.clear();
    return peerTips.best(new Set([session]))?.session;
  }

  async function goesOn(other: Session, protocol: string, message: Uint8Array): Promise<boolean> {
    const answer = await other.request(protocol, message, timeoutMs);
    const ids = read(other, () => decodeIds(answer, scheme));
    return ids !== undefined && ids.next.length > 0;
  }

  return async (session, protocol, message, left) => {
    const outrun = Promise.withResolvers<never>();
    let isOver = false;
    const cancel = clock.after(LATE_MS, () => {
      const other = nextOther(session);
      if (other === undefined || peerTips.isOutrun(other)) return;
      compared.add(other);
      goesOn(other, protocol, message).then(
        (isAhead) => {
          if (isOver || !isAhead || left.aborted) return;
          peerTips.markOutrun(session);
          outrun.reject(new Outrun());
        },
        unlessOurs(() => {}),
      );
    });
    try {
      return await Promise.race([ask(session, protocol, message, left), outrun.promise]);
    } finally {
      isOver = true;
      cancel();
    }
  };
}
