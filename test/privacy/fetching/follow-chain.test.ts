/**
 * The items of a policy that this node joins are listed in short pieces. Whatever ends that early,
 * the next start finds the rest.
 */
import t from 'tap';
import { Backlog, FIRST_ROW } from '../../../src/privacy/fetching/fetch-backlog.ts';
import { ChainFollower } from '../../../src/privacy/fetching/follow-chain.ts';
import { createPolicy } from '../../../src/tx/types/112-create-policy.ts';
import { updatePolicy } from '../../../src/tx/types/113-update-policy.ts';
import { policyDataHash } from '../../../src/tx/types/114-policy-data-hash.ts';
import { mine, miners, newChain, signed, testClock } from '../../chain/chain-harness.ts';
import { memoryLog } from '../../node/memory-ports.ts';
import { createMemoryStore } from '../../simulated/memory-store.ts';

const ITEMS = 50;
const [self, other] = miners as [(typeof miners)[0], (typeof miners)[0]];

/** A clock by which a piece of work is over after a few steps; `between` runs before the next. */
function hurried(between: { run: () => Promise<void> }) {
  const clock = testClock(0);
  return { ...clock, monotonic: () => ++clock.time, turn: () => between.run() };
}

/** A chain with a policy that has items, of which `self` is no recipient. */
async function opened() {
  const chain = await newChain();
  const { blockchain } = chain;
  const { timestamp } = blockchain.tip().header;
  const policy = signed(
    createPolicy,
    other,
    {
      ...{ policyName: 'papers', description: '', fee: 100_000_000n, timestamp },
      ...{ recipients: [other.address], owners: [other.address] },
    },
    1,
  );
  await mine(chain, [policy]);
  const policyId = policy.id;
  const bound = Array.from({ length: ITEMS }, (_, i) => {
    const dataHash = new Uint8Array(32).fill(i + 1);
    return signed(policyDataHash, other, { policyId, dataHash, fee: 5_000_000n, timestamp }, 1);
  });
  await mine(chain, bound);
  const rows = createMemoryStore();
  const failures: (() => void)[] = [];
  const log = { ...memoryLog(), error: () => failures.shift()?.() };

  /** The node as it is from one start to the next. */
  function begin(onMissed = (): void => {}) {
    const between = { run: async (): Promise<void> => {} };
    const clock = hurried(between);
    const backlog = new Backlog({ store: rows, clock, log });
    const follower = new ChainFollower({
      ...{ blockchain, backlog, clock, log },
      ownAddress: self.address,
      onNew: (item) => backlog.set(item, 'pending'),
      onMissed(item) {
        onMissed();
        backlog.set(item, 'pending');
      },
      onGone: (item) => backlog.set(item, undefined),
    });
    follower.start();
    return {
      ...{ follower, backlog, between },
      async ended() {
        await follower.stop();
        await backlog.stop();
      },
    };
  }
  return {
    begin,
    failure: () => new Promise<void>((resolve) => void failures.push(resolve)),
    /** A block without transactions. */
    block: () => mine(chain),
    change: (opType: 'add' | 'remove') =>
      mine(chain, [
        signed(
          updatePolicy,
          other,
          {
            ...{ policyId, opType, fee: 50_000_000n, timestamp: chain.clock.time },
            ...{ recipients: [self.address], owners: [] },
          },
          1,
        ),
      ]),
    wanted: () =>
      new Backlog({ store: rows, clock: testClock(0), log }).list('pending', FIRST_ROW, 1000)
        .length,
    /** A start that nothing disturbs. */
    async again() {
      const next = begin();
      await next.follower.catchUp();
      await next.ended();
    },
  };
}

t.test('a stop while the items of a joined policy are listed', async (t) => {
  const at = await opened();
  await at.again();
  t.equal(at.wanted(), 0);
  const run = at.begin();
  await run.follower.catchUp();
  await run.backlog.flush();
  const ended = new Promise<void>((resolve) => {
    run.between.run = async () => {
      run.between.run = async () => {};
      resolve(run.ended());
    };
  });
  await at.change('add');
  await ended;
  t.ok(at.wanted() < ITEMS, 'it came too early for some');
  await at.again();
  t.equal(at.wanted(), ITEMS);
});

t.test('and one while they are listed after a start', async (t) => {
  const at = await opened();
  await at.again();
  await at.change('add');
  const run = at.begin();
  const ended = new Promise<void>((resolve) => {
    run.between.run = async () => {
      run.between.run = async () => {};
      resolve(run.ended());
    };
  });
  await run.follower.catchUp();
  await ended;
  await at.again();
  t.equal(at.wanted(), ITEMS);
});

t.test('a crash meanwhile, behind a write', async (t) => {
  const at = await opened();
  await at.again();
  const run = at.begin();
  await run.follower.catchUp();
  const written = new Promise<void>((resolve) => {
    run.between.run = () => {
      resolve(run.backlog.flush());
      return new Promise(() => {});
    };
  });
  await at.change('add');
  await written;
  t.ok(at.wanted() < ITEMS);
  await at.again();
  t.equal(at.wanted(), ITEMS);
});

t.test('a walk that fails is repeated with the next block', async (t) => {
  const at = await opened();
  await at.again();
  let calls = 0;
  const run = at.begin(() => {
    if (++calls === 10) throw new Error('the disk is gone');
  });
  await run.follower.catchUp();
  const failed = at.failure();
  await at.change('add');
  await failed;
  await run.backlog.flush();
  t.ok(at.wanted() < ITEMS);
  await at.block();
  await run.ended();
  await at.again();
  t.equal(at.wanted(), ITEMS);
});

t.test('the later change of a policy has the last word', async (t) => {
  const at = await opened();
  await at.again();
  const run = at.begin();
  await run.follower.catchUp();
  const left = new Promise<void>((resolve) => {
    run.between.run = async () => {
      run.between.run = async () => {};
      await at.change('remove');
      resolve();
    };
  });
  await at.change('add');
  await left;
  await run.follower.catchUp();
  await run.ended();
  t.equal(at.wanted(), 0);
});
