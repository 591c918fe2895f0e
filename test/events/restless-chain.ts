/** A chain that grows and is reorganised at random, for readers that are killed and go on. */
import { transactionsAt } from '../../src/chain/store/stored-blocks.ts';
import { mine, payment, type TestChain, users } from '../chain/chain-harness.ts';

/** EVENT_BLOCKS and EVENT_SEEDS make these tests longer. */
export const BLOCKS = Number(process.env['EVENT_BLOCKS'] ?? 1000);
export const SEEDS = Number(process.env['EVENT_SEEDS'] ?? 1);
export const REORGANISATIONS = BLOCKS / 20;
const DEPTH_MAX = 9;
const MS_PER_BLOCK_MAX = 1000;
export const MS_MAX = 60_000 + SEEDS * BLOCKS * MS_PER_BLOCK_MAX;

export type Numbers = (below: number) => number;

export function numbers(seed: number): Numbers {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

async function grow(chain: TestChain, random: Numbers): Promise<void> {
  const [alice, bob] = users;
  const { timestamp } = chain.blockchain.tip().header;
  const txs = Array.from({ length: random(4) }, (_, i) =>
    payment(alice, bob, BigInt(1 + random(1000)), timestamp + i * 1000),
  );
  await mine(chain, txs);
}

/** The new blocks have other transactions, and are fewer or more. */
async function reorganise(chain: TestChain, random: Numbers): Promise<void> {
  const { height } = chain.blockchain.tip();
  const to = Math.max(1, height - 1 - random(DEPTH_MAX));
  const time = chain.blockchain.tip().header.timestamp;
  await chain.blockchain.rollback(to);
  chain.clock.time = time + 1;
  for (let i = random(DEPTH_MAX + 2); i >= 0; i--) await grow(chain, random);
}

/** The next block, behind a reorganisation now and then; true where there was one. */
export async function goOn(chain: TestChain, block: number, random: Numbers): Promise<boolean> {
  await grow(chain, random);
  const isDue = block % (BLOCKS / REORGANISATIONS) === 7;
  if (isDue) await reorganise(chain, random);
  return isDue;
}

/** Height and id of each transaction, in order. */
export const stored = ({ blockchain }: TestChain): readonly string[] => {
  const { view } = blockchain;
  const tip = () => blockchain.tip();
  const heights = Array.from({ length: tip().height }, (_, i) => i + 1);
  return heights.flatMap((height) =>
    transactionsAt(view, height).map(({ id }) => `${height} ${Buffer.from(id).toString('hex')}`),
  );
};

export const settled = async (): Promise<void> => {
  for (let i = 0; i < 30; i++) await new Promise(setImmediate);
};
