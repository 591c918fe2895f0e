// Where blocks are bound, a header is signed by itself: a header in the name of another miner is known
// for what it is before anybody asks for its block or waits for it.
import t from 'tap';
import { headerHash } from '../../src/block/header.ts';
import { blockProtocols } from '../../src/network/messages/block-messages.ts';
import { feature, presetFeatures } from '../../src/tx/rules/features.ts';
import { scheme } from '../chain/chain-harness.ts';
import { cluster } from './cluster.ts';
import { blockOn, inFull, maverick, turnOf } from './maverick.ts';

const active = [...presetFeatures, feature.finality].map((id) => `"${id}":0`);

t.test('a header in the name of a miner that is down', async (t) => {
  const at = await cluster(t, {
    miners: ['here', 'down', 'liar'],
    set: [
      `blockchain.custom.functionality.pre-activated-features={${active.join(',')}}`,
      'miner.quorum=1',
    ],
  });
  const here = await at.start('here', { knows: [] });
  const down = at.member('down');
  const liar = await maverick(t, at, 'liar');
  liar.pester([here]);
  let forged = 0;
  for (let second = 0; second < 60 && forged === 0; second++) {
    await at.seconds(1);
    const now = at.clock.now();
    if (turnOf(here, down, now) === undefined || liar.session(here) === undefined) continue;
    const parentHash = headerHash(here.node.blockchain.tip().header, scheme);
    const bound = { parentHash, bodyHash: new Uint8Array(32), justification: new Uint8Array(0) };
    const { publicKey } = down;
    const block = blockOn(here, { publicKey, sign: liar.sign }, now, { version: 100, bound });
    liar.notifyAll(blockProtocols.newBlock, inFull(block));
    forged++;
  }
  await at.seconds(2);
  t.equal(forged, 1);
  const offences = here.log.of('peer.offence');
  t.match(offences, [
    { offence: 'invalid-block', detail: 'a header that its generator has not signed' },
  ]);
});
