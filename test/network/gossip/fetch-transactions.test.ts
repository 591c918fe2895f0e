// A payment that peers announce first and send late or never.
import t from 'tap';
import {
  encodeTxHashes,
  encodeTxs,
  txProtocols,
} from '../../../src/network/messages/transaction-messages.ts';
import { account, payment, scheme } from '../../chain/chain-harness.ts';
import { cluster } from '../cluster.ts';
import { type Maverick, maverick } from '../maverick.ts';

const bob = account('bob');

t.test('peers that answer with nothing, just in time, delay a payment by seconds', async (t) => {
  const others = ['first', 'second', 'third'];
  for (const [count, secondsMax] of [1.5, 3.5, 7.5].entries()) {
    const set = ['miner.enable=no'];
    const at = await cluster(t, { miners: ['one', 'two'], others, set });
    const one = await at.start('one', { knows: ['two'] });
    const two = await at.start('two', { knows: ['one'] });
    let waitMs = 9_900;
    const mavs: Maverick[] = [];
    for (const name of others.slice(0, count + 1)) {
      const mav = await maverick(t, at, name);
      mav.answers.set(txProtocols.txs, async () => {
        await new Promise<void>((resolve) => void at.clock.after(waitMs, resolve));
        return encodeTxs([], scheme);
      });
      mav.pester([one]);
      mavs.push(mav);
    }
    await at.seconds(3);
    const tx = payment(two, bob, 5n, at.clock.now());
    const hashes = encodeTxHashes([scheme.fastHash(tx.bytes)], scheme);
    for (const mav of mavs) mav.notifyAll(txProtocols.hashes, hashes);
    await at.clock.advance(20);
    await two.node.pool.submit(tx);
    let ms = 0;
    for (; ms < 60_000 && one.node.pool.get(tx.id) === undefined; ms += 100) {
      await at.clock.advance(100);
    }
    t.ok(ms <= secondsMax * 1_000, `${count + 1} peers: ${ms / 1_000} s`);
    await at.seconds(15);
    t.strictSame(one.log.of('peer.offence'), [], 'a block may have taken it from their pools');
    waitMs = 0;
  }
});
