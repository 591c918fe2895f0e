/** What whole nodes fetch from peers that are slow, silent, dishonest or many. */

import t from 'tap';
import { equal } from '../../../src/base/bytes.ts';
import type { Block } from '../../../src/block/block.ts';
import { blockAt } from '../../../src/chain/store/stored-blocks.ts';
import {
  blockProtocols,
  decodeIdList,
  encodeBlocks,
  encodeIds,
  encodeTip,
} from '../../../src/network/messages/block-messages.ts';
import {
  encodeTxHashes,
  encodeTxs,
  txProtocols,
} from '../../../src/network/messages/transaction-messages.ts';
import { account, payment, scheme } from '../../chain/chain-harness.ts';
import { makeBlock } from '../../chain/make-block.ts';
import {
  agree,
  type ClusterNode,
  cluster,
  GENESIS_TIME,
  type Member,
  ROUND_MS,
  tipOf,
} from '../cluster.ts';
import { blockOn, inFull, type Maverick, maverick, turnOf } from '../maverick.ts';

const bob = account('bob');
const BLOCKS = 40;

/** Two nodes with a long chain, and a third that has not started. */
async function longChain(t: Parameters<typeof cluster>[0]) {
  const at = await cluster(t, { miners: ['one', 'two'], others: ['late', 'maverick'] });
  const [one, two] = await Promise.all([at.start('one'), at.start('two')]);
  await at.rounds(BLOCKS);
  return { at, one, two };
}

/** The maverick claims the chain of a node, of which it may have the blocks. */
function claim(mav: Maverick, node: ClusterNode): void {
  mav.notifyAll(blockProtocols.head, encodeTip(tipOf(node), scheme));
}

/** The maverick tells the ids of that chain, and sends no block of it. */
function tellIds(mav: Maverick, of: ClusterNode): void {
  mav.answers.set(blockProtocols.ids, async (message) => {
    const common = decodeIdList(message, scheme).at(-1)!;
    const next = blocksOf(of).map(({ header }) => header.signature);
    return encodeIds({ common, next: next.slice(0, 101) }, scheme);
  });
}

/** All but the genesis block. */
function blocksOf({ node }: ClusterNode): Block[] {
  const { view } = node.blockchain;
  const tip = () => node.blockchain.tip();
  return Array.from({ length: tip().height - 1 }, (_, i) => blockAt(view, i + 2)!);
}

t.test('a peer that holds back the blocks it is asked for costs seconds', async (t) => {
  const { at, one, two } = await longChain(t);
  const mav = await maverick(t, at, 'maverick');
  const late = await at.start('late', { knows: ['one', 'two'] });
  mav.pester([late]);
  tellIds(mav, one);
  for (let i = 0; i < 15; i++) {
    claim(mav, one);
    await at.seconds(1);
  }
  t.ok(agree([one, two, late]), `${tipOf(late).height} of ${tipOf(one).height} blocks`);
});

t.test('scenario 103: a black hole with the best score', async (t) => {
  for (const answersIds of [false, true]) {
    const { at, one, two } = await longChain(t);
    const mav = await maverick(t, at, 'maverick');
    const late = await at.start('late', { knows: ['one', 'two'] });
    mav.pester([late]);
    if (answersIds) tellIds(mav, one);
    const lie = (): void => {
      const { height, score } = tipOf(one);
      const head = {
        height: height + 9,
        id: new Uint8Array(64).fill(9),
        score: score + 10n ** 20n,
      };
      mav.notifyAll(blockProtocols.head, encodeTip(head, scheme));
    };
    for (let i = 0; i < 15; i++) {
      lie();
      await at.seconds(1);
    }
    t.ok(agree([one, two, late]), 'the others are followed after seconds');
    const offences = () => late.log.of('peer.offence').map(({ verdict }) => verdict);
    for (let i = 0; i < 40; i++) {
      lie();
      await at.seconds(1);
    }
    t.strictSame(offences(), ['close'], 'it is thrown out after 40 seconds');
    for (let i = 0; i < 240 && offences().length < 3; i++) {
      lie();
      await at.seconds(5);
    }
    t.strictSame(offences(), ['close', 'close', 'blacklisted'], 'and refused after three times');
    t.ok(agree([one, two, late]));
  }
});

t.test('a peer that has rolled back since it told the ids', async (t) => {
  const { at, one } = await longChain(t);
  const mav = await maverick(t, at, 'maverick');
  const late = await at.start('late', { knows: [] });
  mav.pester([late]);
  tellIds(mav, one);
  let announces = true;
  let asked = 0;
  mav.answers.set(blockProtocols.blocks, async (message) => {
    asked++;
    const head = encodeTip({ ...tipOf(late), height: 1, score: 0n }, scheme);
    // The notice arrives after the answer.
    if (announces) at.clock.after(2_000, () => mav.notifyAll(blockProtocols.head, head));
    return encodeBlocks(
      decodeIdList(message, scheme).map(() => undefined),
      scheme,
    );
  });
  const follow = async (): Promise<void> => {
    const before = asked;
    for (let i = 0; i < 20 && asked === before; i++) {
      claim(mav, one);
      await at.seconds(1);
    }
    await at.seconds(8);
  };
  await follow();
  const first = asked;
  await follow();
  t.ok(first > 0 && asked > first, 'it is followed again');
  t.strictSame(late.log.of('peer.offence'), [], 'and not blamed');
  announces = false;
  await follow();
  t.match(late.log.of('peer.offence')[0], { offence: 'unanswered-request' });
});

t.test('a score without a single block for it is blamed', async (t) => {
  const { at, one } = await longChain(t);
  const mav = await maverick(t, at, 'maverick');
  const late = await at.start('late', { knows: [] });
  mav.pester([late]);
  mav.answers.set(blockProtocols.ids, async (message) =>
    encodeIds({ common: decodeIdList(message, scheme).at(-1)!, next: [] }, scheme),
  );
  const offences = () => late.log.of('peer.offence');
  for (let i = 0; i < 20 && offences().length === 0; i++) {
    claim(mav, one);
    await at.seconds(1);
  }
  t.match(offences()[0], { offence: 'unanswered-request', detail: /a score without the blocks/ });
});

/** Makes empty blocks in these rounds, each by the member whose turn it is. */
async function grow(on: ClusterNode, members: readonly Member[], rounds: readonly number[]) {
  for (const round of rounds) {
    const time = GENESIS_TIME + round * ROUND_MS + 10;
    const miner = members.find((one) => turnOf(on, one, time) !== undefined);
    if (miner === undefined) throw new Error(`nobody has round ${round}`);
    await makeBlock(on.node.blockchain, miner, time, async () => {});
  }
}

/** The maverick has these blocks and no others. */
function serve(mav: Maverick, blocks: readonly Block[], delay: () => Promise<void>): void {
  mav.answers.set(blockProtocols.blocks, async (message) => {
    const asked = decodeIdList(message, scheme);
    await delay();
    return encodeBlocks(
      asked.map((id) => blocks.find(({ header }) => equal(header.signature, id))?.bytes),
      scheme,
    );
  });
}

t.test('a helper that forges blocks is blamed, and not the peer that is followed', async (t) => {
  const { at, one, two } = await longChain(t);
  const mav = await maverick(t, at, 'maverick');
  // Another time, under the old signature.
  const forged = blocksOf(one).map((block) => {
    const bytes = block.bytes.slice();
    const time = new DataView(bytes.buffer).getBigInt64(1);
    new DataView(bytes.buffer).setBigInt64(1, time + 1n);
    return { ...block, bytes };
  });
  serve(mav, forged, async () => {});
  // A good peer is followed already when the helper comes.
  at.faults = ({ from, protocol, message }) => {
    const isAnswer = protocol.endsWith(blockProtocols.ids) && message.length > 0;
    return { delayMs: isAnswer && from === one.host ? 3_000 : 0 };
  };
  const late = await at.start('late', { knows: ['one'] });
  await at.seconds(1);
  mav.pester([late]);
  for (let i = 0; i < 30; i++) {
    claim(mav, one);
    await at.seconds(1);
  }
  t.ok(agree([one, two, late]), `${tipOf(late).height} of ${tipOf(one).height} blocks`);
  const offences = late.log.of('peer.offence').map(({ owner, offence }) => ({ owner, offence }));
  t.strictSame(offences, [{ owner: mav.text, offence: 'invalid-block' }]);
});

t.test('a chain that this node cannot take keeps it from no other', async (t) => {
  const { at, one, two } = await longChain(t);
  const mav = await maverick(t, at, 'maverick');
  const own = blockOn(one, mav, GENESIS_TIME + 1, { reference: at.genesis.header.signature });
  const { signature: id } = own.header;
  mav.answers.set(blockProtocols.ids, async (message) =>
    encodeIds({ common: decodeIdList(message, scheme).at(-1)!, next: [id] }, scheme),
  );
  serve(mav, [own], async () => {});
  const noRoomFor = (message: Uint8Array): boolean =>
    Buffer.from(message).includes(Buffer.from(mav.publicKey)) &&
    Buffer.from(message).includes(Buffer.from(own.header.reference));
  const late = await at.start('late', { knows: ['one', 'two'], noRoomFor });
  mav.pester([late]);
  for (let i = 0; i < 20; i++) {
    const score = tipOf(one).score + 10n ** 20n;
    mav.notifyAll(blockProtocols.head, encodeTip({ height: 900, id, score }, scheme));
    await at.seconds(1);
  }
  t.ok(agree([one, two, late]), `${tipOf(late).height} of ${tipOf(one).height} blocks`);
  t.match(late.log.of('sync.failed')[0], { peer: mav.name });
  t.strictSame(late.log.of('peer.offence'), []);
});

t.test('correct but useless blocks, one in a few seconds', async (t) => {
  const { at, one, two } = await longChain(t);
  const mav = await maverick(t, at, 'maverick');
  // A fork without end whose blocks are signed and follow each other.
  const useless: Block[] = [];
  for (let i = 0; i < 300; i++) {
    const reference = useless.at(-1)?.header.signature ?? at.genesis.header.signature;
    useless.push(blockOn(one, mav, GENESIS_TIME + i + 1, { reference }));
  }
  const ids = useless.map(({ header }) => header.signature);
  mav.answers.set(blockProtocols.ids, async (message) => {
    const known = decodeIdList(message, scheme);
    const from = 1 + ids.findIndex((id) => equal(id, known[0]!));
    return encodeIds(
      { common: known.at(from === 0 ? -1 : 0)!, next: ids.slice(from, from + 100) },
      scheme,
    );
  });
  let asked = 0;
  mav.answers.set(blockProtocols.blocks, async (message) => {
    asked++;
    const [first] = decodeIdList(message, scheme);
    await new Promise<void>((resolve) => void at.clock.after(3_900, resolve));
    return encodeBlocks(
      useless.filter(({ header }) => equal(header.signature, first!)).map(({ bytes }) => bytes),
      scheme,
    );
  });
  mav.pester([one]);
  const lie = async (): Promise<void> => {
    const score = tipOf(one).score + 10n ** 20n;
    mav.notifyAll(blockProtocols.head, encodeTip({ height: 900, id: ids.at(-1)!, score }, scheme));
    await at.seconds(1);
  };
  const { height } = tipOf(one);
  for (let i = 0; i < 60; i++) await lie();
  t.ok(asked > 5, 'it is followed');
  const own = blocksOf(one)
    .slice(height - 1)
    .filter(({ header }) => equal(header.generator, one.publicKey));
  t.ok(own.length >= 5, `the miner goes on: ${own.length} blocks in 12 rounds`);
  for (let i = 0; i < 40; i++) await lie();
  t.match(
    one.log.of('sync.given-up').map(({ why }) => why),
    [/^no block that could be adopted/],
  );
  const before = asked;
  for (let i = 0; i < 60; i++) await lie();
  t.equal(asked, before, 'it is ignored for a while');
  t.ok(tipOf(one).height >= height + 30, 'the chain has grown meanwhile');
  t.ok(agree([one, two]));
});

t.test('scenario 43: a branch of twenty blocks whose fifteenth is invalid', async (t) => {
  const miners = ['one', 'two', 'three'];
  const at = await cluster(t, { miners, others: ['maverick'], set: ['miner.enable=no'] });
  const members = miners.map(at.member);
  const victim = await at.start('one', { knows: [] });
  const source = await at.start('two', { knows: [] });
  await at.rounds(25);
  await grow(victim, members, [2, 4, 6, 8, 10]);
  const rounds = Array.from({ length: 14 }, (_, i) => i + 1);
  await grow(source, members, rounds);

  const blocks = blocksOf(source);
  for (let round = 15; round <= 20; round++) {
    const time = GENESIS_TIME + round * ROUND_MS + 10;
    const miner = members[round % 3]!;
    const due = members.find((one) => turnOf(source, one, time) !== undefined) ?? miner;
    const tooMuch = payment(due, bob, 10n ** 18n, time).bytes;
    const block = blockOn(source, due, time, {
      reference: blocks.at(-1)!.header.signature,
      consensus: source.node.blockchain.tip().header.consensus,
      transactions: round === 15 ? [tooMuch] : [],
    });
    blocks.push(block);
  }
  const { id, height } = tipOf(victim);
  const state = victim.node.blockchain.stateHash(height);

  const ids = blocks.map(({ header }) => header.signature);
  const mav = await maverick(t, at, 'maverick');
  mav.answers.set(blockProtocols.ids, async (message) =>
    encodeIds({ common: decodeIdList(message, scheme).at(-1)!, next: ids }, scheme),
  );
  mav.answers.set(blockProtocols.blocks, async (message) => {
    const asked = decodeIdList(message, scheme);
    const found = asked.map(
      (id) => blocks.find(({ header }) => equal(header.signature, id))?.bytes,
    );
    return encodeBlocks(found, scheme);
  });
  mav.pester([victim]);
  await at.seconds(1);
  const score = tipOf(victim).score + 10n ** 20n;
  const head = { height: 21, id: ids.at(-1)!, score };
  mav.notifyAll(blockProtocols.head, encodeTip(head, scheme));
  await at.seconds(10);
  t.match(victim.log.of('block.refused'), [{ why: /negative/i }], 'the fifteenth is refused');
  t.same(tipOf(victim).id, id, 'the old chain stands');
  t.same(victim.node.blockchain.stateHash(height), state, 'with its state');
  t.match(victim.log.of('peer.offence'), [{ offence: 'invalid-block', verdict: 'blacklisted' }]);
});

t.test('scenario 29: an applied block a thousand times', async (t) => {
  const at = await cluster(t, { miners: ['one', 'two'], others: ['maverick'] });
  const [one, two] = await Promise.all([at.start('one'), at.start('two')]);
  await at.rounds(4);
  const mav = await maverick(t, at, 'maverick');
  mav.pester([one]);
  await at.seconds(1);
  const told: string[] = [];
  at.faults = ({ to, from, protocol, message }) => {
    if (protocol.endsWith(blockProtocols.newBlock) && message.length > 0)
      told.push(`${from}>${to}`);
    return {};
  };
  const block = blocksOf(one).at(-1)!;
  const appended = one.log.of('block.appended').length;
  for (let i = 0; i < 1000; i++) mav.session(one)!.notify(blockProtocols.newBlock, inFull(block));
  await at.seconds(2);
  t.equal(told.filter((way) => way === `${mav.host}>${one.host}`).length, 1000);
  t.equal(told.filter((way) => way === `${one.host}>${two.host}`).length, 0, 'nothing is relayed');
  t.equal(one.log.of('block.appended').length, appended);
  t.strictSame(one.log.of('peer.offence'), [], 'an echo is no offence');
});

t.test('scenario 76: a transaction without peers', async (t) => {
  const miners = ['one'];
  const others = ['two', 'three', 'four'];
  const at = await cluster(t, { miners, others, set: ['miner.enable=no'] });
  const one = await at.start('one');
  const tx = payment(one, bob, 5n, at.clock.now());
  await one.node.pool.submit(tx);
  await at.seconds(30);
  const two = await at.start('two', { knows: ['one'] });
  const has = ({ node }: ClusterNode): boolean => node.pool.get(tx.id) !== undefined;
  await at.seconds(20);
  t.ok(has(two), 'a peer that comes later has it within 20 seconds');
  const four = at.member('four');
  at.faults = ({ to, protocol }) => ({
    lost: to === four.host && protocol.endsWith(txProtocols.hashes),
  });
  const rest = [
    await at.start('three', { knows: ['one'] }),
    await at.start('four', { knows: ['one'] }),
  ] as const;
  await at.seconds(30);
  t.strictSame(rest.map(has), [true, false], 'one has not heard of it');
  at.faults = () => ({});
  await at.seconds(60);
  t.notOk(has(rest[1]), 'and enough others have it');
  await at.seconds(6 * 60);
  t.ok(has(rest[1]), 'it is told again after five minutes');
});

t.test('scenario 78: a transaction that ten peers announce', async (t) => {
  const tellers = Array.from({ length: 10 }, (_, i) => `teller ${i}`);
  const listeners = ['listener 0', 'listener 1'];
  const at = await cluster(t, { miners: ['one'], others: [...tellers, ...listeners] });
  const one = await at.start('one', { set: ['miner.enable=no'] });
  const tx = payment(one, bob, 5n, at.clock.now());
  const hashes = encodeTxHashes([scheme.fastHash(tx.bytes)], scheme);
  let asked = 0;
  const peers: Maverick[] = [];
  for (const name of [...tellers, ...listeners]) {
    const peer = await maverick(t, at, name);
    peer.answers.set(txProtocols.txs, async () => {
      asked++;
      return encodeTxs([tx.bytes], scheme);
    });
    peer.pester([one]);
    peers.push(peer);
  }
  await at.seconds(2);
  const told: string[] = [];
  at.faults = ({ from, to, protocol, message }) => {
    const isNews = protocol.endsWith(txProtocols.hashes) && message.length > 0;
    if (isNews && from === one.host) told.push(to);
    return {};
  };
  for (const peer of peers.slice(0, 10)) peer.notifyAll(txProtocols.hashes, hashes);
  await at.seconds(60);
  t.equal(asked, 1, 'it is fetched once');
  t.ok(one.node.pool.get(tx.id));
  const hosts = peers.slice(10).map(({ host }) => host);
  t.strictSame(
    told.filter((to) => !hosts.includes(to)),
    [],
    'who has told of it is not told',
  );
  for (const host of hosts) t.ok(told.includes(host), 'everybody else is');
});
