/**
 * Blocks of a toy chain: a parent, a miner that signs, the accounts that its state entitles, and perhaps a
 * justification. They are shared by all nodes, and each node makes its own index of them.
 */
import { latin1 } from '../../../src/base/bytes.ts';
import { boundBytes, encodeLink } from '../../../src/block/header.ts';
import type { Justification } from '../../../src/finality/proofs/justification.ts';
import type { TrackedBlock } from '../../../src/finality/tracked-block.ts';
import { voterSetsOfRoot } from '../../../src/finality/votes/entitled-voters.ts';
import { type VoterSet, voterSet } from '../../../src/finality/votes/voter-set.ts';
import { family } from '../../family.ts';
import { Dice } from '../../system/sim/random.ts';
import { childOf } from '../child-of.ts';
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
  /** The bytes that its hash is of. */
  readonly header: Uint8Array;
}

const dice = new Dice(1);
const NO_REFERENCE = new Uint8Array(64);
const NO_PARENT = new Uint8Array(32);
const NONE = new Uint8Array(0);

/** The id, which is the hash of the header, follows from the dice, so a seed makes the same blocks. */
export function makeBlock(
  parent: ToyBlock | undefined,
  miner: Account,
  content: Pick<ToyBlock, 'timestamp' | 'entitled' | 'carried'>,
  random: Dice,
): ToyBlock {
  const unsigned = {
    version: 100,
    timestamp: content.timestamp,
    reference: NO_REFERENCE,
    consensus: { kind: 'poa', skippedRounds: 0 },
    features: [],
    generator: miner.publicKey,
    bound: { parentHash: parent?.id ?? NO_PARENT, bodyHash: random.bytes(32), justification: NONE },
  } as const;
  const message = boundBytes(unsigned, scheme);
  const signature = family.sign(miner.privateKey, message, random);
  const header = encodeLink({ ...unsigned, signature }, scheme);
  const height = (parent?.height ?? 0) + 1;
  return { id: scheme.fastHash(header), parent, height, ...content, header };
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
