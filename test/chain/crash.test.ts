// A node that dies at any step of a commit, of one block or of a reorganisation, and starts again
// on the remaining store.

import t from 'tap';
import { latin1 } from '../../src/base/bytes.ts';
import { ApiError } from '../../src/base/errors.ts';
import { type Block, decodeBlock } from '../../src/block/block.ts';
import { blockAt } from '../../src/chain/store/stored-blocks.ts';
import { unchecked } from '../../src/tx/proof-verdicts.ts';
import { createMemoryStore } from '../simulated/memory-store.ts';
import {
  GENESIS_TIME,
  LENGTH_MS,
  mine,
  miners,
  newChain,
  payment,
  scheme,
  type TestChain,
  users,
} from './chain-harness.ts';
import { createTestForkChoice } from './fork-harness.ts';
import { makeBlock } from './make-block.ts';

/** The write that is hit: of the reorganisation, or of one of the blocks after it. */
const WRITES = 4;
/** Where it is hit, from before its first row to after its last one. */
const PLACES = 50;
const DEPTH = 50;

// Seconds on a quiet machine, minutes on a busy one.
t.setTimeout(900_000);
const [alice, bob] = users;

/** What the chain says when its store takes no write. */
const isDead = (error: unknown): boolean => error instanceof ApiError && error.code === 640;

/** A block in the round after the next, which makes a worse chain than one in the next. */
async function mineLate(at: TestChain): Promise<void> {
  const { timestamp } = at.blockchain.tip().header;
  const from = timestamp - ((timestamp - GENESIS_TIME) % LENGTH_MS) + 2 * LENGTH_MS;
  const miner = miners.find((one) => at.blockchain.nextSlot(one, from)?.from === from)!;
  at.clock.time = from + 10;
  await makeBlock(at.blockchain, miner, at.clock.time, async (draft) => {
    const tx = payment(alice, bob, 3n, at.clock.time);
    draft.add(tx, unchecked(tx));
  });
}

function blocksOf({ blockchain }: TestChain): Block[] {
  const count = blockchain.tip().height - 1;
  const bytes = Array.from({ length: count }, (_, i) => blockAt(blockchain.view, i + 2)!.bytes);
  return bytes.map((one) => decodeBlock(one.slice(), scheme));
}

const stateOf = ({ blockchain }: TestChain): string => {
  const { height, id } = blockchain.tip();
  return `${height} ${latin1(id)} ${latin1(blockchain.stateHash(height)!)}`;
};

t.test(
  'scenario 47: two hundred deaths within a reorganisation and commits',
  { timeout: 900_000 },
  async (t) => {
    const store = createMemoryStore();
    const left = await newChain(store);
    for (let i = 0; i < DEPTH; i++) await mineLate(left);
    const before = store.dump();

    const right = await newChain();
    const boundaries = new Set([stateOf(left)]);
    for (let i = 0; i < DEPTH + 3; i++) {
      await mine(right, [payment(alice, bob, 5n, right.clock.time)]);
      if (i >= DEPTH - 1) boundaries.add(stateOf(right));
    }
    const branch = blocksOf(right);
    const places = new Set<string>();

    for (let kill = 0; kill < WRITES * PLACES; kill++) {
      let fatal = kill % WRITES;
      const at = Math.floor(kill / WRITES) / (PLACES - 1);
      let dead = false;
      const rows = createMemoryStore({
        rows: before,
        fail(step, of) {
          if (fatal === 0 && step === Math.floor(of * at)) dead = true;
          else if (step === of) fatal--;
          if (dead) throw new Error('killed');
        },
      });
      const dying = await newChain(rows);
      dying.clock.time = right.clock.time;
      await followed(dying, branch).catch((error) => {
        if (!isDead(error)) throw error;
      });
      const born = await newChain(createMemoryStore({ rows: rows.dump() }));
      const place = stateOf(born);
      places.add(place);
      if (!boundaries.has(place))
        t.fail(`death ${kill} left ${born.blockchain.tip().height} blocks`);
      born.clock.time = right.clock.time;
      await followed(born, branch);
      if (stateOf(born) !== stateOf(right)) t.fail(`after death ${kill} it does not catch up`);
    }
    t.ok(places.size >= 3, `${places.size} different places`);
  },
);

/** First the branch of fifty blocks as one, then the others one by one. */
async function followed(at: TestChain, branch: readonly Block[]): Promise<void> {
  const choice = createTestForkChoice(at);
  await choice.adopt(await Promise.all(branch.slice(0, DEPTH).map((block) => choice.check(block))));
  for (const block of branch.slice(DEPTH)) await choice.offer(block);
}
