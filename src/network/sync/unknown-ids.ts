/** The ids of the blocks that a peer's chain has and ours has not, in order, an answer at a time. */
import { equal } from '../../base/bytes.ts';
import { misconduct } from '../../base/faults/misconduct.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import type { InvalidBlocks } from '../../chain/fork/invalid-blocks.ts';
import { headerRowAt, heightOf } from '../../chain/store/stored-blocks.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import {
  blockLimits,
  blockProtocols,
  decodeIds,
  encodeIdList,
} from '../messages/block-messages.ts';
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
  /** For those after the first ids. */
  readonly askOn: AskPeer;
}

/** Ids of blocks that follow each other. */
export interface NamedIds {
  readonly ids: readonly Uint8Array[];
  /** Of the first one. */
  readonly height: number;
}

/** The blocks that follow one of our newest `depthMax` + 1. Throws GivenUp. */
export async function* unknownIds(
  target: PeerTip,
  depthMax: number,
  left: AbortSignal,
  ports: UnknownIdsPorts,
): AsyncGenerator<NamedIds> {
  const { scheme, blockchain, invalid, peerTips, log } = ports;
  const { session } = target;
  const { view } = blockchain;
  let known = locatorOf(blockchain, depthMax);
  let hasNamed = false;
  /** Of the last block that was named. */
  let height = 0;
  for (let isFirst = true; ; isFirst = false) {
    const ask = hasNamed ? ports.askOn : ports.ask;
    const answer = await ask(session, blockProtocols.ids, encodeIdList(known, scheme), left);
    const ids = read(session, () => decodeIds(answer, scheme));
    if (ids === undefined) {
      // The peer itself has changed its chain since its last answer.
      if (!isFirst) throw new GivenUp('the peer is on another branch now', 'later');
      log.error('fork.too-deep', {
        peer: session.nodeName,
        max: depthMax,
        why: 'a peer with a better chain shares none of the blocks above which a branch may part',
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
    const unknown = next.filter((id) => heightOf(view, id) === undefined);
    const last = next.at(-1);
    if (last === undefined) return;
    if (unknown.length === 0) {
      // The branch parts above what fits an answer. A peer that goes round in our ids ends here.
      if (hasNamed || heightOf(view, last)! <= heightOf(view, ids.common)!) return;
      known = [last];
      continue;
    }
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
    if (!hasNamed) height = (heightOf(view, ids.common) ?? 0) + next.length - unknown.length;
    const named = hasNamed ? next : unknown;
    yield { ids: named, height: height + 1 };
    height += named.length;
    hasNamed = true;
    if (equal(last, target.id)) return;
    known = [last];
  }
}

/** Of the ids that are named, so many are those of the newest blocks. */
const NEWEST_MAX = 78;

/**
 * Ids of our chain, the newest first: of one block after the other, then with gaps that double, down to `depth` blocks
 * below the tip. So few tell where two chains part, however deep.
 */
function locatorOf(blockchain: Blockchain, depth: number): Uint8Array[] {
  const { view } = blockchain;
  const { height } = blockchain.tip();
  const lowest = Math.max(1, height - depth);
  const ids: Uint8Array[] = [];
  for (
    let at = height, gap = 1;
    ids.length < blockLimits.ownIdsMax;
    at = Math.max(lowest, at - gap)
  ) {
    const row = headerRowAt(view, at);
    if (row !== undefined) ids.push(row.header.signature);
    if (at <= lowest) break;
    if (ids.length >= NEWEST_MAX) gap *= 2;
  }
  return ids;
}
