// What the network relays of a miner that signs many blocks in one turn.
import t from 'tap';
import { blockProtocols, compactHeaderBytes } from '../../src/network/messages/block-messages.ts';
import { payment, scheme } from '../chain/chain-harness.ts';
import { agree, cluster, tipOf } from './cluster.ts';
import { blockOn, inFull, maverick, turnOf } from './maverick.ts';

const BLOCKS = 20;
const SECONDS = 40;

t.test('two blocks of a turn are evidence enough', async (t) => {
  const names = ['one', 'two'];
  const at = await cluster(t, { miners: [...names, 'maverick'] });
  const [one, two] = await Promise.all([
    at.start('one', { knows: names }),
    at.start('two', { knows: names }),
  ]);
  const mav = await maverick(t, at, 'maverick');
  await at.seconds(1);
  mav.pester([one]);
  // Headers that the maverick has signed and one node relays to the other, by turn.
  const turns: Set<string>[] = [];
  const signed = new Map<string, number>();
  at.faults = ({ from, to, protocol, message }) => {
    if (from !== one.host || to !== two.host || !protocol.endsWith(blockProtocols.newBlock)) {
      return {};
    }
    const header = message.length === 0 ? '' : `${compactHeaderBytes(message, scheme)}`;
    const turn = signed.get(header);
    if (turn !== undefined) turns[turn]!.add(header);
    return {};
  };
  let parent = 0;
  for (let second = 0; second < SECONDS; second++) {
    await at.seconds(1);
    const now = at.clock.now();
    const { height } = tipOf(one);
    if (height === parent || turnOf(one, mav, now) === undefined) continue;
    parent = height;
    const blocks = Array.from({ length: BLOCKS }, (_, i) => {
      const tx = payment(mav, two, BigInt(i + 1), now - 1000);
      return inFull(blockOn(one, mav, now, { transactions: [tx.bytes] }));
    });
    for (const message of blocks) {
      signed.set(`${compactHeaderBytes(message, scheme)}`, turns.length);
    }
    turns.push(new Set());
    for (const message of blocks) {
      mav.session(one)?.notify(blockProtocols.newBlock, message);
      await at.clock.advance(20);
    }
  }
  const relayed = turns.map((headers) => headers.size);
  t.ok(relayed.length > 1, `${relayed.length} turns`);
  t.ok(Math.max(...relayed) === 2, `${relayed} blocks of a turn are relayed`);
  const rebuilt = one.log.of('block.rebuilt').length;
  const { height } = tipOf(one);
  t.ok(rebuilt <= height + turns.length, `${rebuilt} blocks are fetched for a height of ${height}`);
  for (const { log, name } of [one, two]) {
    const swaps = log.of('chain.reorganised').length;
    t.ok(swaps <= turns.length, `${name} swaps ${swaps} blocks in ${turns.length} turns`);
    const pairs = log.of('block.equivocation').length;
    t.equal(pairs, turns.length, `${name} notes one pair for each turn`);
  }
  await at.rounds(3);
  t.ok(agree([one, two]));
  t.strictSame(two.log.of('peer.offence'), []);
});
