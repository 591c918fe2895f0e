// A node of an old release that goes on although its network has a feature that it lacks. What it
// takes for bytes of no type, or for a broken rule, may be right by the rules of newer releases.
import t, { type Test } from 'tap';
import { concat, equal } from '../../src/base/bytes.ts';
import {
  blockProtocols,
  decodeIdList,
  encodeBlocks,
  encodeIds,
  encodeTip,
} from '../../src/network/messages/block-messages.ts';
import { scheme } from '../chain/chain-harness.ts';
import { cluster, tipOf } from './cluster.ts';
import { blockOn, inFull, maverick, turnOf } from './maverick.ts';
import { spread } from './misbehaviour/row.ts';

/** A feature that no release so far implements. */
const UNKNOWN = 162;
/** A type that comes with it. */
const NEW_TYPE = 121;

const unknownTx = (n: number): Uint8Array =>
  concat(Uint8Array.of(0, NEW_TYPE, 1, n), new Uint8Array(150));

/** Gives the offences of a peer that knows more. */
async function offences(t: Test, set: readonly string[], isInBlock: boolean): Promise<unknown[]> {
  const at = await cluster(t, {
    miners: ['old', 'new'],
    set: ['features.auto-shutdown-on-unsupported-feature=no', ...set],
  });
  const old = await at.start('old', { knows: [] });
  const mav = await maverick(t, at, 'new');
  mav.pester([old]);
  await at.seconds(2);
  for (let second = 0; second < 20; second++) {
    await at.seconds(1);
    mav.notifyAll(blockProtocols.head, encodeTip(tipOf(old), scheme));
    const now = at.clock.now();
    if (!isInBlock) spread(mav, [unknownTx(second)]);
    else if (turnOf(old, mav, now) !== undefined) {
      const block = blockOn(old, mav, now, { transactions: [unknownTx(second)] });
      mav.notifyAll(blockProtocols.newBlock, inFull(block));
    }
  }
  t.ok(old.log.of(isInBlock ? 'block.refused' : 'tx.refused').length > 0, 'it refuses them');
  return Array.from(old.log.of('peer.offence'), ({ offence }) => offence);
}

const old = [3, 4, 5, 6, 7, 9, 10, 100, 101].map((id) => `"${id}":0`);
/** A network in which the feature is active from a height on. */
const lackingFrom = (height: number): readonly string[] => {
  const all = [...old, `"${UNKNOWN}":${height}`];
  return [`blockchain.custom.functionality.pre-activated-features={${all.join(',')}}`];
};
const lacking = lackingFrom(0);

t.test('a feature that is decided and not active excuses no block', async (t) => {
  t.ok((await offences(t, lackingFrom(1_000_000), true)).length > 0);
  const head = 'a peer may be ahead, and its transactions say not how far';
  t.strictSame(await offences(t, lackingFrom(1_000_000), false), [], head);
});

for (const isInBlock of [false, true]) {
  const where = isInBlock ? 'in a block' : 'in the pool of a peer';
  t.test(`a type that this release does not have, ${where}`, async (t) => {
    const known = await offences(t, [], isInBlock);
    t.ok(known.length > 0, 'without the feature nobody can have it');
    t.strictSame(await offences(t, lacking, isInBlock), [], 'with it, nobody is to blame');
  });
}

for (const isTold of [false, true]) {
  const first = isTold ? 'that came by gossip first' : 'that is first met in sync';
  t.test(`peers whose chain has a block of a new type, ${first}`, async (t) => {
    const at = await cluster(t, {
      miners: ['old', 'new', 'newer'],
      set: ['features.auto-shutdown-on-unsupported-feature=no', ...lacking],
    });
    const node = await at.start('old', { knows: [], set: ['miner.enable=no'] });
    const peers = [await maverick(t, at, 'new'), await maverick(t, at, 'newer')] as const;
    for (const peer of peers) peer.pester([node]);
    let now = at.clock.now();
    for (let second = 0; second < 60 && (second < 2 || !turnOf(node, peers[0], now)); second++) {
      await at.seconds(1);
      now = at.clock.now();
    }
    const block = blockOn(node, peers[0], now, { transactions: [unknownTx(1)] });
    const id = block.header.signature;
    let asked = 0;
    for (const { answers } of peers) {
      answers.set(blockProtocols.ids, async (message) => {
        asked++;
        const common = decodeIdList(message, scheme)[0]!;
        return encodeIds({ common, next: equal(common, id) ? [] : [id] }, scheme);
      });
      answers.set(blockProtocols.blocks, async (message) => {
        const ids = decodeIdList(message, scheme);
        const found = ids.map((one) => (equal(one, id) ? block.bytes : undefined));
        return encodeBlocks(found, scheme);
      });
    }
    if (isTold) peers[0].notifyAll(blockProtocols.newBlock, inFull(block));
    await at.seconds(2);
    const { height, score } = tipOf(node);
    const better = encodeTip({ height: height + 1, id, score: score + 10n ** 15n }, scheme);
    for (let second = 0; second < 20; second++) {
      for (const peer of peers) peer.notifyAll(blockProtocols.head, better);
      await at.seconds(1);
    }
    t.ok(asked > 1, `it asks them: ${asked}`);
    t.strictSame(
      Array.from(node.log.of('peer.offence'), ({ offence }) => offence),
      [],
      'and blames nobody',
    );
  });
}
