/**
 * Blocks full of transactions with scripts that are dear to read: one that no miner has made, and
 * those that the miner makes of what waits.
 */
import { base58 } from '../../../src/base/base58.ts';
import { blockId, sealBlock } from '../../../src/block/block.ts';
import {
  blockProtocols,
  encodeBlocks,
  encodeIds,
  encodeTip,
} from '../../../src/network/messages/block-messages.ts';
import { eventually } from '../e2e/process.ts';
import { scheme } from '../e2e/process-network.ts';
import { type Attack, judged } from './attack.ts';
import { COUNT_MAX, freshBytes, guardBytes, handedOver } from './dear-scripts.ts';
import type { Found } from './found/found.ts';
import { dearToRead } from './found/scripts.ts';
import { headerOf } from './messages.ts';
import { type AttackingPeer, connectPeer } from './peer.ts';
import { peers, type Target } from './target.ts';

/** None of the other rows is this member, or has given it a script. */
const AUTHOR = 9;
/** Reading all scripts of a full block takes longer than the first one. */
const REFUSED_MS = { full: 25_000, short: 30_000 };
/** Where the miner was faster, such a block is late, and nobody is blamed for it. */
const FORKS_MAX = 5;
const MINED_BLOCKS = 2;
const HIGHEST_SCORE = (1n << 127n) - 1n;
/** The bytes of a full block. */
const TRANSACTION_BYTES = 1024 * 1024 - 10_000;

async function blockOnTip({ rest }: Target, peer: AttackingPeer, txs: readonly Uint8Array[]) {
  const { signature } = (await rest.get('/blocks/headers/last')).body as { signature: string };
  const reference = base58.decode(signature)!;
  const parent = await headerOf(peer, reference);
  const header = { ...parent, generator: peer.publicKey, reference, timestamp: Date.now() };
  return { parent: reference, block: sealBlock(header, txs, scheme, peer.sign) };
}

/** As large as a block may be. */
function scriptsFor(of: Found, peer: AttackingPeer, countMax: number): Uint8Array[] {
  const txs: Uint8Array[] = [];
  let bytes = 0;
  while (txs.length < countMax) {
    const next = guardBytes(peer, freshBytes(of, {}));
    bytes += next.length + 4;
    if (bytes > TRANSACTION_BYTES) break;
    txs.push(next);
  }
  return txs;
}

/** The node follows a better chain, whose only block is no miner's. */
const falseBlock = (of: Found, countMax: number, refusedMs: number): Attack => ({
  name: `\`${blockProtocols.blocks}\` a block that no miner has made: ${of.name}`,
  async send(target) {
    let made: Awaited<ReturnType<typeof blockOnTip>> | undefined;
    const peer = await connectPeer(target, peers[AUTHOR]!, {
      ids: () => encodeIds({ common: made!.parent, next: [blockId(made!.block)] }, scheme),
      blocks: () => encodeBlocks([made!.block.bytes], scheme),
    });
    try {
      const txs = scriptsFor(of, peer, countMax);
      await target.seen();
      const stream = await peer.open(blockProtocols.head);
      let isRefused = false;
      for (let i = 0; i < FORKS_MAX && !isRefused; i++) {
        made = await blockOnTip(target, peer, txs);
        const head = { height: 2 ** 31, id: blockId(made.block), score: HIGHEST_SCORE };
        await stream.send(encodeTip(head, scheme));
        isRefused = await endsSession(peer, refusedMs / FORKS_MAX);
      }
      return judged(isRefused, `${txs.length} scripts, ${isRefused ? '' : 'not '}refused`);
    } finally {
      await peer.close();
    }
  },
});

const endsSession = (peer: AttackingPeer, withinMs: number): Promise<boolean> =>
  eventually('the end', () => (peer.isOpen() ? undefined : true), withinMs).catch(() => false);

/** The miner packs them, and reads again what it has forgotten. */
const minedBlocks = (of: Found, count: number): Attack => ({
  name: `blocks that the miner makes of ${count} scripts: ${of.name}`,
  async send(target) {
    const height = await target.rest.height();
    const answer = await handedOver(target, AUTHOR, (peer) =>
      Array.from({ length: count }, () => guardBytes(peer, freshBytes(of, {}))),
    );
    await eventually('the next blocks', async () =>
      (await target.rest.height()) >= height + MINED_BLOCKS ? true : undefined,
    );
    return answer;
  },
});

/** The dearest that is a script, and not only begins like one. */
const dearest = dearToRead.find(({ name }) => name.endsWith('as many as are permitted'))!;

export const blockRows = (isFull: boolean): Attack[] => [
  isFull
    ? falseBlock(dearest, Number.POSITIVE_INFINITY, REFUSED_MS.full)
    : falseBlock(dearest, 50, REFUSED_MS.short),
  minedBlocks(dearest, isFull ? COUNT_MAX : 100),
];
