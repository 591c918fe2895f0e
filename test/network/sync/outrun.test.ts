// A peer that is followed first, since it claims a false score, and whose answers are just in time.
import t from 'tap';
import { equal, latin1 } from '../../../src/base/bytes.ts';
import { blockAt } from '../../../src/chain/store/stored-blocks.ts';
import {
  blockProtocols,
  decodeIdList,
  encodeBlocks,
  encodeIds,
  encodeTip,
} from '../../../src/network/messages/block-messages.ts';
import { scheme } from '../../chain/chain-harness.ts';
import { makeBlock } from '../../chain/make-block.ts';
import { type ClusterNode, cluster, GENESIS_TIME, ROUND_MS, tipOf } from '../cluster.ts';
import { type Maverick, maverick, turnOf } from '../maverick.ts';

const BLOCKS = 500;
/** The node leaves a peer after four seconds without an answer. */
const JUST_IN_TIME_MS = 3_900;

/** A node with a long chain, made at once, and a maverick. */
async function longChain(t: Parameters<typeof cluster>[0]) {
  const miners = ['one', 'two'];
  const others = ['late', 'maverick'];
  const at = await cluster(t, { miners, others, set: ['miner.enable=no'] });
  const one = await at.start('one', { knows: [] });
  await at.rounds(BLOCKS + 2);
  const members = miners.map(at.member);
  for (let round = 1; round <= BLOCKS; round++) {
    const time = GENESIS_TIME + round * ROUND_MS + 10;
    const miner = members.find((member) => turnOf(one, member, time) !== undefined)!;
    await makeBlock(one.node.blockchain, miner, time, async () => {});
  }
  return { at, one, mav: await maverick(t, at, 'maverick') };
}

/** It has the chain of a node, and gives `count` blocks in an answer. */
function serve(mav: Maverick, { node }: ClusterNode, count: number, wait: () => Promise<void>) {
  const { view } = node.blockchain;
  const blocks = Array.from({ length: BLOCKS + 1 }, (_, i) => blockAt(view, i + 1)!);
  const byId = new Map(blocks.map((block) => [latin1(block.header.signature), block.bytes]));
  const ids = blocks.map(({ header }) => header.signature);
  mav.answers.set(blockProtocols.ids, async (message) => {
    const common = decodeIdList(message, scheme).find((id) => byId.has(latin1(id)))!;
    const from = ids.findIndex((id) => equal(id, common)) + 1;
    await wait();
    return encodeIds({ common, next: ids.slice(from, from + 100) }, scheme);
  });
  mav.answers.set(blockProtocols.blocks, async (message) => {
    const asked = decodeIdList(message, scheme).slice(0, count);
    await wait();
    return encodeBlocks(
      asked.map((id) => byId.get(latin1(id))),
      scheme,
    );
  });
}

async function secondsToSync(t: Parameters<typeof cluster>[0], blocksInAnswer?: number) {
  const { at, one, mav } = await longChain(t);
  let waitMs = JUST_IN_TIME_MS;
  const wait = () => new Promise<void>((resolve) => void at.clock.after(waitMs, resolve));
  serve(mav, one, blocksInAnswer ?? 0, wait);
  // The maverick is there first.
  at.faults = ({ to, protocol }) => ({
    delayMs: to === one.host && protocol === '' ? 2_000 : 0,
  });
  const late = await at.start('late', { knows: ['one'] });
  const isAttacked = blocksInAnswer !== undefined;
  if (isAttacked) mav.pester([late]);
  const head = { height: 1_000_000, id: new Uint8Array(64).fill(9), score: 10n ** 30n };
  let seconds = 0;
  while (tipOf(late).height <= BLOCKS && seconds < 300) {
    if (isAttacked) mav.notifyAll(blockProtocols.head, encodeTip(head, scheme));
    await at.seconds(1);
    seconds += 1;
  }
  const left = late.log.of('sync.given-up').map(({ peer, why }) => `${peer}: ${why}`);
  waitMs = 0;
  await at.seconds(10);
  return { seconds, left };
}

t.test('answers that are just in time do not hold up the download', async (t) => {
  const alone = await secondsToSync(t);
  t.ok(alone.seconds < 10, `${alone.seconds} s without the peer`);
  t.strictSame(alone.left, []);
  for (const blocks of [3, 50]) {
    const { seconds, left } = await secondsToSync(t, blocks);
    t.ok(seconds <= alone.seconds + 15, `${seconds} s with ${blocks} blocks in an answer`);
    t.match(left, ['maverick: another peer answers sooner']);
  }
});
