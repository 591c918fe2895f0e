/** The ids of the blocks that a peer's chain has and ours has not, in order, an answer at a time. */
import { equal } from '../../base/bytes.ts';
import { misconduct } from '../../base/faults/misconduct.ts';
import type { Log } from '../../base/ports.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import type { InvalidBlocks } from '../../chain/fork/invalid-blocks.ts';
import { headerRowAt, heightOf } from '../../chain/store/stored-blocks.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { blockProtocols, decodeIds, encodeIdList } from '../messages/block-messages.ts';
import type { AskPeer } from './ask-peer.ts';
import { Blamed, GivenUp, read } from './given-up.ts';
import type { PeerTip, PeerTips } from './peer-tips.ts';

export interface UnknownIdsPorts {
  readonly scheme: ChainScheme;
  readonly blockchain: Blockchain;
  readonly invalid: InvalidBlocks;
  readonly peerTips: Pick<PeerTips, 'ignore'>;
  /** True where a broken rule blames nobody. */
  readonly isOutdated: () => boolean;
  readonly log: Log;
  readonly ask: AskPeer;
}

/** Throws GivenUp. */
export async function* unknownIds(
  target: PeerTip,
  rollbackMax: number,
  left: AbortSignal,
  ports: UnknownIdsPorts,
): AsyncGenerator<Uint8Array[]> {
  const { scheme, blockchain, invalid, peerTips, log, ask } = ports;
  const { session } = target;
  let known = newestIds(blockchain, rollbackMax);
  for (let isFirst = true; ; isFirst = false) {
    const answer = await ask(session, blockProtocols.ids, encodeIdList(known, scheme), left);
    const ids = read(session, () => decodeIds(answer, scheme));
    if (ids === undefined) {
      // The peer itself has changed its chain since its last answer.
      if (!isFirst) throw new GivenUp('the peer is on another branch now', 'later');
      log.error('fork.too-deep', {
        peer: session.nodeName,
        max: rollbackMax,
        why: 'a peer with a better score shares none of the newest blocks',
      });
      peerTips.ignore(session);
      throw new GivenUp('no common block', 'later');
    }
    if (!known.some((id) => equal(id, ids.common))) {
      const what = misconduct('a common block that was not asked about');
      session.offend('malformed-message', what);
      throw new Blamed(what);
    }
    // Copies: views would keep the whole message.
    const next = ids.next.map((id) => id.slice());
    const unknown = next.filter((id) => heightOf(blockchain.view, id) === undefined);
    // A peer that sends our own ids could go on for ever.
    if (unknown.length === 0) return;
    if (unknown.some((id) => invalid.has(id))) {
      const what = misconduct('ids of a chain with an invalid block');
      if (ports.isOutdated()) {
        peerTips.ignore(session);
        throw new GivenUp(what.message, 'later');
      }
      session.offend('invalid-block', what);
      throw new Blamed(what);
    }
    // Behind what was named before all follow, also those that have come from others meanwhile: a gap
    // would look like the fault of the peer.
    yield isFirst ? unknown : next;
    const last = next.at(-1)!;
    if (equal(last, target.id)) return;
    known = [last];
  }
}

/** Of our chain, the newest first. */
function newestIds(blockchain: Blockchain, count: number): Uint8Array[] {
  const { view } = blockchain;
  const { height } = blockchain.tip();
  const ids: Uint8Array[] = [];
  for (let at = height; at > 0 && ids.length < count; at--) {
    const row = headerRowAt(view, at);
    if (row !== undefined) ids.push(row.header.signature);
  }
  return ids;
}
