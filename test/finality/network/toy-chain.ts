/**
 * Blocks of a toy chain: a parent, a miner that signs, the accounts that its state entitles, and perhaps a
 * justification. They are shared by all nodes, and each node makes its own index of them.
 */
import { concat, latin1 } from '../../../src/base/bytes.ts';
import { voterSetsOfRoot } from '../../../src/finality/entitled-voters.ts';
import type { Justification } from '../../../src/finality/justification.ts';
import type { LinkedHeader } from '../../../src/finality/offline-proof.ts';
import { childOf, type TrackedBlock } from '../../../src/finality/tracked-block.ts';
import { type VoterSet, voterSet } from '../../../src/finality/voter-set.ts';
import { family } from '../../family.ts';
import { Dice } from '../../sim/random.ts';
import { scheme } from '../vectors.ts';

export interface Account {
  readonly name: string;
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
}

export const accounts: readonly Account[] = Array.from({ length: 7 }, (_, i) => ({
  name: `${i + 1}`,
  ...family.keyPairFromPhrase(`voter ${i + 1}`),
}));

/** The set of the accounts with these numbers, from 1 on. */
export const setOf = (...numbers: readonly number[]): VoterSet =>
  voterSet(
    numbers.map((n) => accounts[n - 1]!.publicKey),
    scheme,
  );

export interface ToyBlock {
  readonly id: Uint8Array;
  /** Absent in the genesis block. */
  readonly parent: ToyBlock | undefined;
  readonly height: number;
  readonly timestamp: number;
  readonly entitled: VoterSet;
  readonly carried: Justification | undefined;
  readonly header: LinkedHeader;
}

const dice = new Dice(1);
const NO_PARENT = new Uint8Array(64);

/** The id follows from the dice, so a seed makes the same blocks. */
export function makeBlock(
  parent: ToyBlock | undefined,
  miner: Account,
  content: Pick<ToyBlock, 'timestamp' | 'entitled' | 'carried'>,
  random: Dice,
): ToyBlock {
  const reference = parent?.id ?? NO_PARENT;
  const message = concat(reference, random.bytes(8));
  const id = family.sign(miner.privateKey, message, random);
  const check = { publicKey: miner.publicKey, message, signature: id };
  const height = (parent?.height ?? 0) + 1;
  return { id, parent, height, ...content, header: { id, reference, check } };
}

export function genesisOf(entitled: VoterSet): ToyBlock {
  return makeBlock(undefined, accounts[0]!, { timestamp: 0, entitled, carried: undefined }, dice);
}

export function trackedRoot({ id, height, timestamp, entitled }: ToyBlock): TrackedBlock {
  const checkpoint = { height, id };
  const leaves = voterSetsOfRoot(entitled);
  if (leaves === undefined) throw new Error('the root entitles nobody');
  return {
    id: latin1(id),
    checkpoint,
    parent: '',
    timestamp,
    score: 0n,
    source: checkpoint,
    deciding: leaves,
    leaves,
    carried: undefined,
  };
}

const BLOCK_SCORE = 100n;

export const trackedChild = (
  { id, height, timestamp, entitled, carried }: ToyBlock,
  parent: TrackedBlock,
  index: ReadonlyMap<string, TrackedBlock>,
): TrackedBlock =>
  childOf(
    parent,
    {
      checkpoint: { height, id },
      timestamp,
      score: parent.score + BLOCK_SCORE,
      entitled,
      carried,
    },
    index,
  );
