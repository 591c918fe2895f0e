// The ids of the blocks that a peer's chain has and ours has not.
import t from 'tap';
import { equal } from '../../../src/base/bytes.ts';
import { blockId, decodeBlock } from '../../../src/block/block.ts';
import { headerRowAt } from '../../../src/chain/store/stored-blocks.ts';
import { decodeIdList, encodeIds } from '../../../src/network/messages/block-messages.ts';
import { ServableBlocks } from '../../../src/network/sync/servable-blocks.ts';
import { type UnknownIdsPorts, unknownIds } from '../../../src/network/sync/unknown-ids.ts';
import {
  mine,
  newChain,
  payment,
  quiet,
  scheme,
  type TestChain,
  users,
} from '../../chain/chain-harness.ts';

t.test('blocks that come from others meanwhile leave no gap', async (t) => {
  const source = await newChain();
  const genesis = source.blockchain.tip().id;
  const blocks = [await mine(source), await mine(source), await mine(source)];
  const [a, b, c] = blocks.map(blockId) as [Uint8Array, Uint8Array, Uint8Array];
  const at = await newChain();
  at.clock.time = source.clock.time;
  const session = { nodeName: 'peer', offend: () => t.fail('nobody is to blame') };
  const ports = {
    scheme,
    blockchain: at.blockchain,
    invalid: { add: () => {}, has: () => false },
    peerTips: { ignore: () => {} },
    isOutdated: () => false,
    log: quiet,
    ask: async () => encodeIds({ common: genesis, next: [a] }, scheme),
    async askOn() {
      for (const { bytes } of blocks.slice(0, 2)) {
        await at.blockchain.append(decodeBlock(bytes, scheme));
      }
      return encodeIds({ common: a, next: [b, c] }, scheme);
    },
  } as unknown as UnknownIdsPorts;
  const target = { session, id: c } as never;
  const named: Uint8Array[] = [];
  const heights: number[] = [];
  for await (const { ids, height } of unknownIds(target, 10, new AbortController().signal, ports)) {
    named.push(...ids);
    heights.push(height);
  }
  t.strictSame(heights, [2, 3]);
  t.equal(named.length, 3);
  t.ok(
    [a, b, c].every((id, i) => equal(id, named[i]!)),
    'each follows the one before it',
  );
});

const PAST = 30;
const OWN = 260;
/** The branch that is not ours parts so far below our tip. */
const DEPTH = OWN - PAST;

/** Two chains of one past; `theirs` is longer by 3. */
async function partedChains() {
  const [ours, theirs] = [await newChain(), await newChain()];
  while (ours.blockchain.tip().height < PAST) {
    const block = await mine(ours);
    theirs.clock.time = ours.clock.time;
    await theirs.blockchain.append(decodeBlock(block.bytes, scheme));
  }
  await mine(theirs, [payment(users[0], users[1], 1n, theirs.clock.time)]);
  while (ours.blockchain.tip().height < OWN) await mine(ours);
  while (theirs.blockchain.tip().height < OWN + 3) await mine(theirs);
  return { ours, theirs };
}

const idsOf = ({ blockchain: { view } }: TestChain, from: number, to: number): Uint8Array[] =>
  Array.from({ length: to - from + 1 }, (_, i) => headerRowAt(view, from + i)!.header.signature);

interface Answering {
  readonly blockchain: TestChain['blockchain'];
  readonly answer: (ids: readonly Uint8Array[]) => ReturnType<ServableBlocks['idsAfter']>;
}

/** What is named after which lists of ids. */
async function named(id: Uint8Array, depthMax: number, { blockchain, answer }: Answering) {
  const asked: (readonly Uint8Array[])[] = [];
  const session = { nodeName: 'peer', offend: (what: string) => t.fail(what) };
  async function ask(_session: unknown, _protocol: string, message: Uint8Array) {
    const ids = decodeIdList(message, scheme);
    asked.push(ids);
    return encodeIds(answer(ids), scheme);
  }
  const ports = {
    scheme,
    blockchain,
    invalid: { add: () => {}, has: () => false },
    peerTips: { ignore: () => {} },
    isOutdated: () => false,
    log: quiet,
    ask,
    askOn: ask,
  } as unknown as UnknownIdsPorts;
  const found: Uint8Array[] = [];
  const target = { session, id } as never;
  const { signal } = new AbortController();
  for await (const { ids, height } of unknownIds(target, depthMax, signal, ports)) {
    t.equal(height, PAST + 1 + found.length);
    found.push(...ids);
  }
  return { found, asked };
}

t.test('a branch that parts deep', async (t) => {
  const { ours, theirs } = await partedChains();
  const { blockchain } = ours;
  const peer = new ServableBlocks(theirs.blockchain.view, theirs.clock);
  const answer = (ids: readonly Uint8Array[]) => peer.idsAfter(ids);
  const { id } = theirs.blockchain.tip();

  for (const depthMax of [DEPTH, DEPTH + 5, 1_000_000]) {
    const { found, asked } = await named(id, depthMax, { blockchain, answer });
    t.same(found, idsOf(theirs, PAST + 1, OWN + 3), `all of it, of ${depthMax} blocks at most`);
    const [locator] = asked;
    t.same(locator?.slice(0, 50), idsOf(ours, OWN - 49, OWN).reverse(), 'newest first');
    const lowest = Math.max(1, OWN - depthMax);
    t.same(locator?.at(-1), idsOf(ours, lowest, lowest)[0], 'down to the deepest');
  }
  await t.rejects(named(id, DEPTH - 1, { blockchain, answer }), /no common block/);
});

t.test('more of our own ids than fit an answer come before the branch', async (t) => {
  const { ours, theirs } = await partedChains();
  const { blockchain } = ours;
  const peer = new ServableBlocks(theirs.blockchain.view, theirs.clock);
  const past = idsOf(ours, 1, PAST);
  let answers = 0;
  const answer = (ids: readonly Uint8Array[]) => {
    const at = answers++;
    if (at === 0) return { common: past[0]!, next: past.slice(1, 11) };
    return at === 1 ? { common: past[10]!, next: past.slice(11, 20) } : peer.idsAfter(ids);
  };
  // The first of them is named: the deepest block.
  const { found } = await named(theirs.blockchain.tip().id, OWN, { blockchain, answer });
  t.same(found, idsOf(theirs, PAST + 1, OWN + 3));

  let rounds = 0;
  const circle = (ids: readonly Uint8Array[]) => {
    rounds += 1;
    const next = past.slice(1, 3);
    return { common: ids.at(-1)!, next: rounds % 2 === 1 ? next : next.slice(0, 1) };
  };
  t.same((await named(past[0]!, OWN, { blockchain, answer: circle })).found, []);
  t.equal(rounds, 2, 'a peer that goes round in our ids ends');
});
