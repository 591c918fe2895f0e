/** Made chains for the data service. */
import { type MadeChain, madeChain } from '../../test/data-service/made-chain.ts';

export const TXS_PER_BLOCK = 100;
/** Every seventh block is empty. */
const SHARE_OF_FULL_BLOCKS = 6 / 7;

export function longChain(txs: number): MadeChain {
  const chain = madeChain({ seed: 'bench', txsPerBlock: TXS_PER_BLOCK, accounts: 5000 });
  chain.grow(Math.ceil(txs / TXS_PER_BLOCK / SHARE_OF_FULL_BLOCKS));
  return chain;
}

/** Its blocks are made and printed once, for two kilobytes of memory a transaction. */
export function keptChain(txs: number): MadeChain {
  const chain = longChain(txs);
  const kept = Array.from({ length: chain.height() }, (_, i) => chain.block(i + 1));
  const texts = kept.map((block) => JSON.stringify(block));
  return {
    ...chain,
    block: (height) => kept[height - 1],
    printed: (height) => texts[height - 1],
  };
}
