// A node whose store was written by a release that knew nothing of feature 1004 while that was approved.
import t from 'tap';
import { decodeBlock } from '../../src/block/block.ts';
import { Blockchain } from '../../src/chain/blockchain.ts';
import { FinalityRules } from '../../src/chain/finality/finality-rules.ts';
import { NodeFinality } from '../../src/node/open-finality.ts';
import { feature } from '../../src/tx/rules/features.ts';
import {
  consensusOf,
  GENESIS_TIME,
  genesis,
  mine,
  rules as plain,
  quiet,
  scheme,
  testClock,
  verifier,
} from '../chain/chain-harness.ts';
import { chainWith, WITH_FINALITY } from '../chain/finality-harness.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';

const rules = { ...plain, featureCheckBlocks: 8, featureApprovalVotes: 3 };
const APPROVED = 8;

async function chain(supported: number[]) {
  const clock = testClock(GENESIS_TIME);
  const store = createMemoryStore();
  const blockchain = new Blockchain(
    {
      rules,
      consensus: consensusOf(rules),
      support: { autoSupport: false, supported },
      transactionBytesMax: 1_048_576,
      undoDepth: 2_000,
    },
    { scheme, store, verifier, clock, log: quiet },
  );
  await blockchain.found(genesis);
  return { blockchain, store, clock };
}

t.test('it does not start, and says why', async (t) => {
  const at = await chain([feature.finality]);
  const blocks = [];
  for (let i = 0; i <= APPROVED; i++) blocks.push(await mine(at));
  const { leave } = FinalityRules.prototype;
  t.teardown(() => {
    FinalityRules.prototype.leave = leave;
  });
  // The release before wrote no rows of voters.
  FinalityRules.prototype.leave = () => {};
  const old = await chain([]);
  old.clock.time = at.clock.time;
  for (const { bytes } of blocks) await old.blockchain.append(decodeBlock(bytes, scheme));
  const options = {
    isPoa: true,
    maxRollback: 100,
    roundMs: 1_000,
    notePath: '',
    votes: false,
    waits: false,
  };
  const started = (blockchain: typeof at.blockchain) =>
    new NodeFinality(options, { blockchain, rules } as never).start();
  t.throws(() => started(old.blockchain), {
    name: 'StartError',
    message: /another release ran here.*make the data directory anew/,
  });
  t.doesNotThrow(() => started(at.blockchain));
  FinalityRules.prototype.leave = leave;
  await t.rejects(mine(old), /was approved while another release ran here/);
});

t.test(
  'a miner waits for votes where the operator and the number of voters ask for it',
  async (t) => {
    const lacksVotes = (waits: boolean, voters: number): boolean => {
      const finality = new NodeFinality(
        { isPoa: true, maxRollback: 100, roundMs: 1_000, notePath: '', votes: false, waits },
        { blockchain: { tip: () => undefined }, rules } as never,
      );
      // The chains of these tests have three miners, whose votes are never waited for.
      const keys = Array.from({ length: voters });
      const index = { at: () => ({ leaves: { current: { keys } } }) };
      Object.assign(finality, { running: { engine: { mayMakeBlock: () => false }, index } });
      return finality.lacksVotes();
    };
    t.equal(lacksVotes(true, 4), true);
    t.equal(lacksVotes(false, 4), false);
    t.equal(lacksVotes(true, 3), false);
  },
);

t.test(
  'it does not start on a chain with another block than its configuration names',
  async (t) => {
    const at = await chainWith();
    await mine(at);
    const options = {
      isPoa: true,
      maxRollback: 100,
      roundMs: 1_000,
      notePath: '',
      votes: false,
      waits: false,
    };
    const block = { height: 2, id: new Uint8Array(32) };
    const named = { ...WITH_FINALITY, voterOverrides: [{ block, voters: [] }] };
    const { blockchain } = at;
    const ports = { blockchain, rules: named, scheme, log: quiet } as never;
    t.throws(
      () => new NodeFinality(options, ports).start(),
      /finality.overrides.*block 2 of the chain has the header hash/,
    );
  },
);

t.test('a miner waits for the block that its configuration names', async (t) => {
  const block = { height: 5, id: new Uint8Array(32) };
  const lacksVotes = (height: number): boolean => {
    const finality = new NodeFinality(
      { isPoa: true, maxRollback: 100, roundMs: 1, notePath: '', votes: false, waits: false },
      {
        blockchain: { tip: () => undefined },
        rules: { ...rules, voterOverrides: [{ block, voters: [] }] },
      } as never,
    );
    t.equal(finality.lacksVotes(), false, 'before the feature');
    Object.assign(finality, { running: { index: { at: () => ({ checkpoint: { height } }) } } });
    return finality.lacksVotes();
  };
  t.equal(lacksVotes(3), false);
  t.equal(lacksVotes(4), true);
  t.equal(lacksVotes(5), false);
});
