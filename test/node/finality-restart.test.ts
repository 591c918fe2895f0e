// What a node knows after a start from its blocks alone, of which it reads a few.
import t from 'tap';
import type { Files } from '../../src/base/ports/files.ts';
import { finalFloor } from '../../src/chain/finality/final-floor.ts';
import { NodeFinality } from '../../src/node/open-finality.ts';
import {
  LENGTH_MS,
  miners,
  quiet,
  scheme,
  type TestChain,
  verifier,
} from '../chain/chain-harness.ts';
import {
  chainWith,
  justificationOf,
  mineCarrying,
  WITH_FINALITY,
} from '../chain/finality-harness.ts';
import { memoryFiles } from '../keystore/sample.ts';

const NOTHING = new Uint8Array(0);

async function started(at: TestChain, files = memoryFiles()): Promise<NodeFinality> {
  const finality = new NodeFinality(
    { isPoa: true, maxRollback: 2, roundMs: LENGTH_MS, notePath: '/n', votes: true, waits: true },
    {
      scheme,
      blockchain: at.blockchain,
      rules: WITH_FINALITY,
      store: at.store,
      verifier,
      clock: { ...at.clock, after: () => () => {} },
      log: quiet,
      files: files as Files,
      owner: miners[0]!,
    },
  );
  finality.start();
  t.teardown(() => finality.stop());
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  return finality;
}

t.test('the highest justified and the highest final block, without a stored proof', async (t) => {
  const at = await chainWith();
  await mineCarrying(at, NOTHING);
  for (const carried of [2, 3, 4]) {
    while (at.blockchain.tip().height < carried) await mineCarrying(at, NOTHING);
    await mineCarrying(at, justificationOf(at, carried));
  }
  t.equal(at.blockchain.tip().height, 5);
  // Block 7 is a child of no source, so it makes nothing final.
  await mineCarrying(at, NOTHING);
  await mineCarrying(at, NOTHING);
  await mineCarrying(at, justificationOf(at, 7));
  const finality = await started(at);
  t.match(finality.report(), { justifiedHeight: 7, finalHeight: 3 });
  t.equal(finalFloor(at.blockchain.view), 3, 'and its proof is on disk');
  t.equal(finality.carried().length, 0, 'the chain carries all that is known');
  const again = await started(at);
  t.match(again.report(), { justifiedHeight: 7, finalHeight: 3 });
});

t.test('an empty note is a lost one, also where the feature begins', async (t) => {
  const at = await chainWith();
  const ownVotes = async (note?: Uint8Array) => {
    const files = memoryFiles();
    if (note !== undefined) files.content.set('/n', note);
    return (await started(at, files)).report()!.ownVotes;
  };
  t.equal(await ownVotes(), 'listening', 'no key has voted yet');
  t.equal(await ownVotes(NOTHING), 'without-note');
});
