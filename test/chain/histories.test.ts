/**
 * Random histories of valid blocks of all types with random rollbacks. After a rollback the rows
 * are, byte for byte, those of the earlier height. A node that saw only the remaining blocks has
 * the same rows (row R19 of the goals in short form; ROLLBACK_FORKS makes it long).
 */

import { createHash } from 'node:crypto';
import t from 'tap';
import { ApiError } from '../../src/base/errors.ts';
import { type Block, decodeBlock } from '../../src/block/block.ts';
import type { BlockDraft } from '../../src/chain/apply/block-draft.ts';
import { END_OF_TABLE, START_OF_TABLE } from '../../src/ledger/key-codecs.ts';
import { features } from '../../src/ledger/tables.ts';
import { unchecked } from '../../src/tx/proof-verdicts.ts';
import { actions, newScene, type Scene } from '../generators/actions.ts';
import { Rng } from '../generators/random.ts';
import { createMemoryStore, type MemoryStore } from '../simulated/memory-store.ts';
import {
  type Account,
  rules as defaultRules,
  GENESIS_TIME,
  LENGTH_MS,
  miners,
  newChain,
  scheme,
  type TestChain,
} from './chain-harness.ts';
import { makeBlock } from './make-block.ts';

const FORKS = Number(process.env['ROLLBACK_FORKS'] ?? 60);
const DEPTH_MAX = 100;
const TRIES_PER_BLOCK = 14;
const types = Object.keys(actions).map(Number);

// The long form takes minutes.
if (FORKS > 100) t.setTimeout(3_600_000);

/** Windows so short that features are approved, become active and are rolled back again. */
const rules = { ...defaultRules, featureCheckBlocks: 8, featureApprovalVotes: 5 };

interface Recorded extends TestChain {
  readonly store: MemoryStore;
}

async function recorded(): Promise<Recorded> {
  const store = createMemoryStore();
  return { ...(await newChain(store, rules)), store };
}

/** The miner of a round that begins `skipped` rounds after the next one. */
function turnAfter({ blockchain }: TestChain, skipped: number): { miner: Account; time: number } {
  const { timestamp } = blockchain.tip().header;
  const next = timestamp - ((timestamp - GENESIS_TIME) % LENGTH_MS) + LENGTH_MS;
  const from = next + skipped * LENGTH_MS;
  for (const miner of miners) {
    if (blockchain.nextSlot(miner, from)?.from === from) return { miner, time: from + 10 };
  }
  throw new Error('somebody has the turn');
}

/** Makes the next block of whatever its rules accept; counts the types. */
async function mineSome(at: Recorded, scene: Scene, seen: Map<number, number>): Promise<Block> {
  const { rng } = scene;
  const { miner, time } = turnAfter(at, rng.chance(6) ? rng.between(1, 4) : 0);
  at.clock.time = time;
  Object.assign(scene, { now: time, generator: miner });
  return makeBlock(at.blockchain, miner, time, async (draft) => {
    for (let i = rng.below(TRIES_PER_BLOCK); i > 0; i--) {
      const type = rng.pick(types);
      if (attempt(draft, scene, type)) seen.set(type, (seen.get(type) ?? 0) + 1);
    }
  });
}

function attempt(draft: BlockDraft, scene: Scene, type: number): boolean {
  const made = actions[type]?.(scene);
  if (made === undefined) return false;
  try {
    draft.add(made.tx, unchecked(made.tx));
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
  made.accepted?.();
  return true;
}

function digest(store: MemoryStore): string {
  const hash = createHash('sha256');
  for (const { table, key, value } of store.dump()) {
    hash.update(`${table} ${key.length} ${value?.length} `).update(key);
    if (value !== undefined) hash.update(value);
  }
  return hash.digest('hex');
}

t.test('scenario 44: random histories with random rollbacks', { timeout: 3_600_000 }, async (t) => {
  const seed = Number(process.env['SEED'] ?? 45);
  t.comment(`seed ${seed}`);
  const at = await recorded();
  const { blockchain, store } = at;
  const scene = newScene(new Rng(seed));
  const { rng } = scene;
  const seen = new Map<number, number>();
  const blocks: Block[] = [];
  /** By height: what the store held when this block was the last. */
  const digests = [digest(store)];
  let deepest = 0;
  for (let forks = 0; forks < FORKS; ) {
    for (let i = rng.between(1, forks % 10 === 0 ? 60 : 12); i > 0; i--) {
      blocks.push(await mineSome(at, scene, seen));
      digests.push(digest(store));
    }
    const depth = rng.between(1, Math.min(rng.chance(4) ? DEPTH_MAX : 8, blocks.length));
    deepest = Math.max(deepest, depth);
    const height = blockchain.tip().height - depth;
    const returned = await blockchain.rollback(height);
    const gone = blocks.splice(-depth);
    digests.length -= depth;
    const count = gone.reduce((sum, block) => sum + block.transactions.length, 0);
    if (returned.length !== count) t.equal(returned.length, count, 'transactions that come back');
    if (digest(store) !== digests.at(-1)) t.fail(`fork ${forks} of depth ${depth} left a trace`);
    forks++;
  }
  for (const type of types)
    t.ok((seen.get(type) ?? 0) > 0, `type ${type}: ${seen.get(type)} times`);
  const approved = [...blockchain.view.range(features, START_OF_TABLE, END_OF_TABLE, 100)];
  t.ok(approved.length > 2, 'features were approved');
  t.ok(deepest > 10, `the deepest fork had ${deepest} blocks`);

  const other = await recorded();
  for (const block of blocks) {
    other.clock.time = block.header.timestamp;
    await other.blockchain.append(decodeBlock(block.bytes, scheme));
  }
  const { height } = blockchain.tip();
  t.equal(other.blockchain.tip().height, height);
  t.same(other.blockchain.stateHash(height), blockchain.stateHash(height), 'the same state hash');
  t.equal(digest(other.store), digest(store), 'byte-identical tables');
});
