/** What a block knows of the chain that it ends: all that rules ask for, and nothing else. */
import type { VoterSets } from '../../src/finality/votes/voter-sets.ts';
import type { Rules } from './rules.ts';

/** Members, one bit each. */
export type Voters = number;

export interface Chain {
  readonly height: number;
  /** Of votes for the last block. */
  readonly source: number;
  /** Heights of justified blocks above the source, whose justification a child may carry. */
  readonly uncarried: number;
  /** Those of them whose link makes its source final. */
  readonly finalising: number;
  /** Left by the parent: these decide on the last block. */
  readonly deciding: VoterSets<Voters>;
  /** Left by the last block. */
  readonly sets: VoterSets<Voters>;
  /** A block that is not in this chain, and not above it, is final. */
  readonly isOffFinal: boolean;
}

export const bit = (n: number): number => 1 << n;
export const has = (mask: number, n: number): boolean => (mask & bit(n)) !== 0;
/** Bits of a mask, ascending. */
export function bits(mask: number): number[] {
  const found: number[] = [];
  for (let n = 0; mask >> n !== 0; n++) if (has(mask, n)) found.push(n);
  return found;
}
export function size(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
}

export function root(voters: Voters, height = 0): Chain {
  const sets = { change: 0, current: voters, next: undefined };
  return {
    height,
    source: height,
    uncarried: 0,
    finalising: 0,
    deciding: sets,
    sets,
    isOffFinal: false,
  };
}

/** Blocks from checkpoint to checkpoint. */
export const spacing = ({ deciding }: Chain, rules: Rules): number =>
  rules.spacing(size(deciding.current | (deciding.next?.voters ?? 0)));

/** The chain once its last block is justified by the link from `source`. */
export function justified(chain: Chain, source: number, rules: Rules): Chain {
  const link = { source, target: chain.height };
  const isFinalising = rules.makesSourceFinal(link, spacing(chain, rules));
  return {
    ...chain,
    uncarried: chain.uncarried | bit(chain.height),
    finalising: chain.finalising | (isFinalising ? bit(chain.height) : 0),
  };
}

/** A block more, which carries the justification of the block at height `carried`. */
export function extended(
  chain: Chain,
  carried: number | undefined,
  entitled: Voters,
  rules: Rules,
): Chain {
  const height = chain.height + 1;
  const source = rules.sourceAfter(chain.source, carried);
  const isProof = carried !== undefined && has(chain.finalising, carried);
  const provenFinal = isProof ? carried - spacing(chain, rules) : undefined;
  const kept = ~(bit(source + 1) - 1);
  const wanted = rules.changesTo(chain.sets.current, entitled);
  return {
    height,
    source,
    uncarried: chain.uncarried & kept,
    finalising: chain.finalising & kept,
    deciding: chain.sets,
    sets: rules.setsAfter(chain.sets, { height, entitled: wanted, provenFinal }, (a, b) => a === b),
    isOffFinal: chain.isOffFinal,
  };
}

/** Heights of justifications that a child may carry. */
export const carriable = (chain: Chain, rules: Rules): number[] =>
  bits(chain.uncarried).filter((height) => rules.mayCarry(chain.source, height));

export const isEnough = (chain: Chain, voted: Voters, rules: Rules): boolean =>
  rules
    .decidingSets(chain.deciding)
    .every((members) => size(members & voted) >= rules.quorum(size(members)));
