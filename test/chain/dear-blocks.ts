/** Blocks whose scripts are dear, made by miners that keep to the rules and by one that does not. */

import { BLOCK_SCRIPT_UNITS_MAX, type Block } from '../../src/block/block.ts';
import type { BlockDraft } from '../../src/chain/apply/block-draft.ts';
import { blockAt } from '../../src/chain/store/stored-blocks.ts';
import { RUN_UNITS_MAX } from '../../src/script/evaluation/meter.ts';
import { unchecked } from '../../src/tx/proof-verdicts.ts';
import { feature } from '../../src/tx/rules/features.ts';
import type { Tx } from '../../src/tx/transaction.ts';
import { buildTx } from '../../src/tx/tx-bytes.ts';
import { transfer } from '../../src/tx/types/004-transfer.ts';
import { setScript } from '../../src/tx/types/013-set-script.ts';
import { taking, unitsOf } from '../generators/dear-runs.ts';
import {
  type Account,
  mine,
  newChain,
  nextTurn,
  remade,
  rules,
  scheme,
  signed,
  type TestChain,
  users,
} from './chain-harness.ts';
import { makeBlock } from './make-block.ts';

const [alice, bob] = users;
export const WINDOW = 4;
/** A network that was founded before the feature, and whose vote takes long. */
export const OLD = rules;
/** One that was founded with it. */
export const METERED = {
  ...rules,
  preActivatedFeatures: new Map([...rules.preActivatedFeatures, [feature.scriptMetering, 0]]),
};
/** An old one that votes: approved at the end of a window, active one window later. */
export const VOTING = { ...rules, featureCheckBlocks: WINDOW, featureApprovalVotes: 3 };

/** Two thirds of what a run may take. */
export const DEAR_UNITS = (RUN_UNITS_MAX * 2) / 3;
export const DEAR = taking(DEAR_UNITS);
/** More than a run may take. */
export const TOO_DEAR = taking(RUN_UNITS_MAX * 1.1);
export const FULL = {
  message: `Limit of txs was reached: more than ${BLOCK_SCRIPT_UNITS_MAX} units of scripts`,
};
/** The runs of DEAR that fit into a block. */
export const FITTING = Math.floor(BLOCK_SCRIPT_UNITS_MAX / unitsOf(DEAR));

export const guard = (from: Account, script: Uint8Array, timestamp: number): Tx =>
  signed(
    setScript,
    from,
    {
      ...{ name: 'guard', description: '', chainId: scheme.chainId, script },
      ...{ fee: setScript.fee ?? 0n, timestamp },
    } as never,
    1,
  );

/** A transfer of alice, whose script wants no signature. */
export function pay(timestamp: number, amount: number): Tx {
  const input = {
    ...{ senderPublicKey: alice.publicKey, timestamp, amount: BigInt(amount), fee: 1_400_000n },
    ...{ recipient: { kind: 'address', bytes: bob.address } as const },
    attachment: new Uint8Array(0),
  };
  return buildTx(transfer, transfer.layouts[1]!, input, [], scheme) as unknown as Tx;
}

export const dearBlock = (time: number, count: number): Tx[] =>
  Array.from({ length: count }, (_, i) => pay(time, i + 1));

export async function scripted(settings: typeof rules, script = DEAR): Promise<TestChain> {
  const at = await newChain(undefined, settings);
  await mine(at, [guard(alice, script, nextTurn(at).time)]);
  return at;
}

/** The same blocks, from their bytes, on a node that has seen none of them. */
export async function follower(of: TestChain, settings: typeof rules, store?: TestChain['store']) {
  const at = await newChain(store, settings);
  at.clock.time = of.clock.time;
  for (
    let height = at.blockchain.tip().height + 1;
    height <= of.blockchain.tip().height;
    height++
  ) {
    await at.blockchain.append(blockAt(of.blockchain.view, height)!);
  }
  return at;
}

/** The next block with these transactions, whatever the rules say; nobody has it yet. */
export async function hostile(
  at: TestChain,
  make: (time: number) => readonly Tx[],
  votes?: readonly number[],
) {
  const { miner, time } = nextTurn(at);
  const block = await mine(at);
  await at.blockchain.rollback(at.blockchain.tip().height - 1);
  const transactions = make(time).map(({ bytes }) => bytes);
  return remade(block, miner, {
    transactions,
    ...(votes === undefined ? {} : { features: votes }),
  });
}

export async function produceBlock(
  at: TestChain,
  pack: (draft: BlockDraft, time: number) => void,
): Promise<Block> {
  const { miner, time } = nextTurn(at);
  at.clock.time = time;
  return makeBlock(at.blockchain, miner, time, async (draft) => pack(draft, time));
}

export const put = (draft: BlockDraft, tx: Tx): void => draft.add(tx, unchecked(tx));
