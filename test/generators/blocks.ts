/**
 * Blocks with the verdict that every node must reach: a chain that grows by valid blocks of all
 * types, and before each of them other blocks on the same parent, each of which breaks one rule.
 *
 * Invariants: the verdict is written here or in faults.ts and never taken from the code under test;
 * the valid block comes last, so that a node that follows the sequence has the parent of all of
 * them as its head; the same seed gives the same sequence.
 */

import { ApiError } from '../../src/base/errors.ts';
import type { Block } from '../../src/block/block.ts';
import type { Tip } from '../../src/chain/tip.ts';
import { unchecked } from '../../src/tx/proof-verdicts.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { permit } from '../../src/tx/types/102-permit.ts';
import {
  type Account,
  LENGTH_MS,
  mine,
  miners,
  newChain,
  nextTurn,
  payment,
  ROUND_MS,
  remade,
  type TestChain,
  users,
} from '../chain/chain-harness.ts';
import { makeBlock } from '../chain/make-block.ts';
import { actions, newScene, type Scene, sign } from './actions.ts';
import { faults, stranger } from './faults.ts';
import { Rng } from './random.ts';

export interface BlockOutcome {
  readonly name: string;
  /** Height that the block would have. */
  readonly height: number;
  readonly bytes: Uint8Array;
  /** What the clock says when it comes. */
  readonly time: number;
  /** What is said against it; absent: it is accepted. */
  readonly error?: RegExp;
}

const FUNDS = 1_000_00000000n;
const TRIES_PER_BLOCK = 12;
const FAULTS_PER_BLOCK = 6;
const types = Object.keys(actions).map(Number);
const names = Object.keys(faults);

/** `count` valid blocks and what comes before each. */
export async function* verdicts(seed: number, count: number): AsyncGenerator<BlockOutcome> {
  const at = await newChain();
  const scene = newScene(new Rng(seed));
  const { time } = nextTurn(at);
  const roles = users.map(({ address }) =>
    sign(Object.assign(scene, { now: time }), permit, miners[0]!, 1, {
      target: { kind: 'address', bytes: address },
      opType: 'add',
      role: 'contract_developer',
      dueTimestamp: undefined,
    }),
  );
  const first = await mine(at, [payment(users[0]!, stranger, FUNDS, time), ...roles]);
  yield { name: 'funds and roles', height: 2, bytes: first.bytes, time: at.clock.time };
  for (let i = 0; i < count; i++) yield* oneHeight(at, scene);
}

async function* oneHeight(at: TestChain, scene: Scene): AsyncGenerator<BlockOutcome> {
  const parent = at.blockchain.tip();
  const height = parent.height + 1;
  const { miner, time } = nextTurn(at);
  Object.assign(scene, { now: time, generator: miner });
  const { block, txs } = await grow(at, scene, miner, time);
  // They stand behind the good ones, so what the scene has learned from those holds.
  const bad = faultsFrom(height * FAULTS_PER_BLOCK).flatMap((name) => {
    const made = faults[name]?.(scene, parent.header.timestamp);
    return made === undefined ? [] : [{ name, ...made }];
  });
  const judged = { height, time };
  for (const { name, tx, error } of bad) {
    const bytes = remade(block, miner, { transactions: [...block.transactions, tx.bytes] }).bytes;
    yield { name, ...judged, bytes, error };
  }
  yield* spoilt(block, miner, parent, judged);
  yield* repeated(block, miner, txs, judged);
  yield { name: 'a valid block', ...judged, bytes: block.bytes };
}

/** All have their turn. */
const faultsFrom = (start: number): readonly string[] =>
  Array.from({ length: FAULTS_PER_BLOCK }, (_, i) => names[(start + i) % names.length]!);

async function grow(at: TestChain, scene: Scene, miner: Account, time: number) {
  const { rng } = scene;
  at.clock.time = time;
  const txs: Tx[] = [];
  const block = await makeBlock(at.blockchain, miner, time, async (draft) => {
    for (let i = rng.below(TRIES_PER_BLOCK); i > 0; i--) {
      const made = actions[rng.pick(types)]?.(scene);
      if (made === undefined) continue;
      try {
        draft.add(made.tx, unchecked(made.tx));
      } catch (error) {
        if (error instanceof ApiError) continue;
        throw error;
      }
      made.accepted?.();
      txs.push(made.tx);
    }
  });
  return { block, txs };
}

type Judged = Pick<BlockOutcome, 'height' | 'time'>;

/** The header breaks a rule. */
function* spoilt(
  block: Block,
  miner: Account,
  parent: Tip,
  judged: Judged,
): Generator<BlockOutcome> {
  const { timestamp } = block.header;
  const made = (change: Parameters<typeof remade>[2], by = miner) =>
    remade(block, by, change).bytes;
  const other = miners.find((one) => one !== miner)!;
  const verdict = (name: string, bytes: Uint8Array, error: RegExp, time = judged.time) => ({
    name,
    height: judged.height,
    bytes,
    error,
    time,
  });
  yield verdict('by another miner', made({}, other), /isn't a valid miner|is not a miner/);
  yield verdict('by no miner', made({}, stranger), /is not a miner/);
  yield verdict(
    'of another parent',
    made({ reference: new Uint8Array(64).fill(7) }),
    /not a child/,
  );
  yield verdict(
    'in the round of its parent',
    made({ timestamp: parent.header.timestamp + 1 }),
    /in the same round/,
  );
  yield verdict(
    'in a round before its parent',
    made({ timestamp: parent.header.timestamp - LENGTH_MS }),
    // It may have become a miner since.
    /before the end of its parent's round|is not a miner/,
  );
  yield verdict(
    'in the sync part of its round',
    made({ timestamp: timestamp - 10 + ROUND_MS }),
    /after sync start/,
    judged.time + ROUND_MS,
  );
  yield verdict('from the future', block.bytes, /BlockFromFuture/, judged.time - 101);
  const claimed = block.header.consensus.kind === 'poa' ? block.header.consensus.skippedRounds : 0;
  yield verdict(
    'with skipped rounds overstated',
    made({ consensus: { kind: 'poa', skippedRounds: claimed + 1 } }),
    /overall skipped rounds .* do not match calculated/,
  );
  yield verdict('with another version', made({ version: 1, features: [] }), /version 3/);
  const forged = block.bytes.slice();
  forged[forged.length - 1]! ^= 1;
  yield verdict('with a forged signature', forged, /signature/i);
  yield verdict('without its end', block.bytes.subarray(0, block.bytes.length - 1), /./);
}

/** A transaction that is good once. */
function* repeated(
  block: Block,
  miner: Account,
  txs: readonly Tx[],
  judged: Judged,
): Generator<BlockOutcome> {
  const [tx] = txs;
  if (tx === undefined) return;
  const { bytes } = remade(block, miner, { transactions: [...block.transactions, tx.bytes] });
  yield {
    name: 'twice the same transaction',
    ...judged,
    bytes,
    error: /is already in the state|account-script|exactly 1 proof/,
  };
}
