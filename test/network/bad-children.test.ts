// A miner whose session does not name it signs many blocks with a bad transaction in one turn. Nobody
// can be blamed, so what they cost is limited; good blocks are taken as before.
import t, { type Test } from 'tap';
import { equal } from '../../src/base/bytes.ts';
import { type Block, blockId } from '../../src/block/block.ts';
import { blockProtocols } from '../../src/network/messages/block-messages.ts';
import { payment } from '../chain/chain-harness.ts';
import { agree, cluster, tipOf } from './cluster.ts';
import { blockOn, inFull, maverick, turnOf } from './maverick.ts';

const BLOCKS = 20;
const MORE_THAN_THERE_IS = 10n ** 18n;
/** Less than sync waits before it asks for an announced block. */
const BY_GOSSIP_MS = 200;

async function scene(t: Test) {
  const names = ['one', 'two'];
  const at = await cluster(t, { miners: [...names, 'cheat'], others: ['envoy'] });
  const one = await at.start('one', { knows: names });
  const two = await at.start('two', { knows: names });
  const cheat = at.member('cheat');
  const envoy = await maverick(t, at, 'envoy');
  await at.seconds(1);
  envoy.pester([one, two]);

  /** Waits until the cheat may make a block on the head of both nodes. */
  async function itsTurn(): Promise<number> {
    const { height } = tipOf(one);
    for (let i = 0; i < 200; i++) {
      await at.clock.advance(500);
      const now = at.clock.now();
      const isLater = tipOf(one).height > height && agree([one, two]);
      if (isLater && turnOf(one, cheat, now) !== undefined) return now;
    }
    throw new Error('it never has its turn');
  }
  const send = async (to: typeof one, block: Block): Promise<void> => {
    envoy.session(to)!.notify(blockProtocols.newBlock, inFull(block));
    await at.clock.advance(20);
  };
  const pay = (amount: bigint, now: number) => payment(cheat, two, amount, now - 1500).bytes;
  const bad = (i: number, now: number): Block =>
    blockOn(one, cheat, now, {
      transactions: [pay(BigInt(i + 1), now), pay(MORE_THAN_THERE_IS, now)],
    });
  const hasHead = (node: typeof one, block: Block): boolean =>
    equal(tipOf(node).id, blockId(block));
  return { at, one, two, cheat, itsTurn, send, bad, hasHead };
}

t.test('the third bad block of a turn is neither fetched nor checked', async (t) => {
  const { at, one, two, cheat, itsTurn, send, bad, hasHead } = await scene(t);
  for (let turn = 1; turn <= 2; turn++) {
    const now = await itsTurn();
    const { height } = tipOf(one);
    const [checks, rebuilt] = [one.signatureChecks(), one.log.of('block.rebuilt').length];
    for (let i = 0; i < BLOCKS; i++) await send(one, bad(i, now));
    t.equal(tipOf(one).height, height);
    t.equal(one.log.of('block.refused').length, 2 * turn);
    t.equal(one.log.of('block.rebuilt').length - rebuilt, 2, 'two are fetched');
    const spent = one.signatureChecks() - checks;
    t.ok(spent <= 2 * 3, `${spent} signatures are checked`);
  }
  const good = blockOn(one, cheat, await itsTurn());
  await send(one, good);
  await at.clock.advance(BY_GOSSIP_MS);
  t.ok(hasHead(one, good) && hasHead(two, good), 'a good block of a later turn comes by gossip');
  await at.rounds(4);
  t.ok(agree([one, two]));
  for (const { log } of [one, two]) t.strictSame(log.of('peer.offence'), []);
});

t.test('a good block after two bad ones of its turn comes by sync', async (t) => {
  const { at, one, two, cheat, itsTurn, send, bad, hasHead } = await scene(t);
  const now = await itsTurn();
  at.faults = ({ from, to, protocol }) => ({
    lost: from === one.host && to === two.host && protocol.endsWith(blockProtocols.newBlock),
  });
  for (let i = 0; i < BLOCKS; i++) await send(one, bad(i, now));
  at.faults = () => ({});
  const good = blockOn(two, cheat, now);
  await send(two, good);
  await at.clock.advance(BY_GOSSIP_MS);
  t.ok(hasHead(two, good));
  t.notOk(hasHead(one, good), 'it is left to sync');
  await at.clock.advance(1500);
  t.ok(hasHead(one, good));
  const { height } = tipOf(one);
  await at.rounds(2);
  t.ok(tipOf(one).height > height && agree([one, two]), 'and others build on it');
  for (const { log } of [one, two]) t.strictSame(log.of('peer.offence'), []);
});
