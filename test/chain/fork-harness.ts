/** A fork choice on a test chain that has seen no wrong block yet. */
import { createEquivocations } from '../../src/chain/fork/equivocation.ts';
import { ForkChoice, type ForkChoiceDeps } from '../../src/chain/fork/fork-choice.ts';
import { createInvalidBlocks } from '../../src/chain/fork/invalid-blocks.ts';
import { consensus, quiet, scheme, type TestChain, verifier } from './chain-harness.ts';

export function createTestForkChoice(
  { blockchain, clock }: Pick<TestChain, 'blockchain' | 'clock'>,
  ports: Partial<ForkChoiceDeps> = {},
  rollbackMax = 100,
): ForkChoice {
  const forkChoice = new ForkChoice(
    { rollbackMax },
    {
      blockchain,
      consensus,
      verifier,
      clock,
      log: quiet,
      invalid: createInvalidBlocks({ max: 30_000, forgetMs: 300_000 }, clock),
      equivocations: createEquivocations(consensus, scheme, quiet),
      knownVerdicts: () => undefined,
      ...ports,
    },
  );
  forkChoice.start();
  return forkChoice;
}
