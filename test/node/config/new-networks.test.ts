// What new networks are founded with, and that networks founded with the defaults stay as they are.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { parseHoconText } from '../../../src/adapters/hocon.ts';
import { settingsHash } from '../../../src/consensus/settings-hash.ts';
import { createFamily } from '../../../src/crypto/families.ts';
import { networkSettings } from '../../../src/node/config/genesis-section.ts';
import { addedFeatures, feature, newNetworkFeatures } from '../../../src/tx/rules/features.ts';
import { wholeNode } from '../in-process.ts';
import { LEAST, read } from './sample.ts';

const founded = (consensus: string): ReadonlyMap<number, number> =>
  new Map(newNetworkFeatures(consensus === 'poa').map((id) => [id, 0]));

t.test('the defaults do not change, so existing networks go on', async (t) => {
  const { config } = await read(LEAST);
  const hash = settingsHash(networkSettings(config), createFamily('curve25519').fastHash);
  t.equal(
    Buffer.from(hash).toString('hex'),
    '14c0791e9fc2722a983a74743155235e2fe36bba52d36a1d61b5b2d60bc5a174',
  );
  const { preActivatedFeatures } = config.blockchain.custom.functionality;
  for (const id of [...addedFeatures, feature.finality]) t.notOk(preActivatedFeatures.has(id));
});

t.test('ids of features of our own begin at 1000 and fit into a vote', async (t) => {
  const own = addedFeatures.filter((id) => ![119, 120, 130, 140].includes(id));
  t.ok(own.length > 0);
  for (const id of own) t.ok(id >= 1000 && id < 0x8000, String(id));
});

t.test('the examples found a network with them', async (t) => {
  for (const name of ['poa', 'pos']) {
    const text = readFileSync(`configs/network/${name}.conf`, 'utf8');
    const tree = (await parseHoconText(text)) as {
      node: { blockchain: { custom: { functionality: Record<string, unknown> } } };
    };
    const features = tree.node.blockchain.custom.functionality['pre-activated-features'];
    t.same(features, Object.fromEntries(founded(name)), name);
  }
});

t.test('so does dev', async (t) => {
  for (const consensus of ['poa', 'pos'] as const) {
    const { config } = await wholeNode(t, { consensus });
    const { preActivatedFeatures } = config.blockchain.custom.functionality;
    t.same(preActivatedFeatures, founded(consensus), consensus);
  }
});

t.test('blocks become final under proof of authority alone', async (t) => {
  t.ok(founded('poa').has(feature.finality));
  t.notOk(founded('pos').has(feature.finality));
  t.strictSame(
    [...founded('pos').keys()].sort(),
    [...founded('poa').keys()].filter((id) => id !== feature.finality).sort(),
  );
});
