// A store is opened only under the settings of the network under which it was made.
import t from 'tap';
import { base58 } from '../../src/base/base58.ts';
import { allSettings } from '../../src/node/config/settings.ts';
import { wholeNode } from './in-process.ts';

t.test('a store is refused under other settings of the network, by their names', async (t) => {
  const whole = await wholeNode(t);
  await whole.mine();
  for (const [key, value] of [
    ['blockchain.fees.base.transfer', 2_000_000],
    ['blockchain.fees.enabled', 'no'],
    ['blockchain.fees.additional.data', 1],
    ['blockchain.consensus.warnings-for-ban', 9],
    ['blockchain.consensus.sync-duration', '4s'],
    ['blockchain.custom.functionality.exchange-enabled', 'no'],
    ['miner.max-block-size-in-bytes', 2_000_000],
    ['utx.tx-expire-timeout', '1h'],
  ]) {
    t.equal(allSettings.find((one) => one.key === key)?.setting.network, true, String(key));
    await t.rejects(whole.restart([`${key}=${value}`]), {
      status: 400,
      message: new RegExp(`made with other settings of the network: ${key} = .* \\(now `),
    });
  }
  const two = ['blockchain.fees.base.burn=7', 'blockchain.fees.base.issue=8'];
  await t.rejects(whole.restart(two), { message: /base\.issue = .* \(now .*base\.burn = / });
});

t.test('other settings may change, and the same value may be written otherwise', async (t) => {
  const whole = await wholeNode(t);
  await whole.mine();
  const tip = base58.encode(whole.node.blockchain.tip().id);
  const again = await whole.restart([
    'miner.quorum=3',
    'utx.memory-limit=10MiB',
    'utx.tx-expire-timeout=120m',
  ]);
  t.equal(base58.encode(again.node.blockchain.tip().id), tip);
});
