/** Counts blocks of each generator and turn. The memory is bounded. */
import type { Header } from '../../block/header.ts';
import { BoundedCache } from '../../concurrency/bounded-cache.ts';
import { type Consensus, turnKey } from '../../consensus/consensus.ts';

const TURNS_MAX = 2_000;

export class TurnCounts {
  private readonly max: number;
  private readonly consensus: Pick<Consensus, 'turnOf'>;
  private readonly counts = new BoundedCache<string, number>(TURNS_MAX);

  constructor(max: number, consensus: Pick<Consensus, 'turnOf'>) {
    this.max = max;
    this.consensus = consensus;
  }

  add(header: Header): void {
    const turn = turnKey(header, this.consensus);
    this.counts.set(turn, 1 + (this.counts.get(turn) ?? 0));
  }

  /** True where so many blocks of the turn were added as are of interest. */
  isReached(header: Header): boolean {
    return (this.counts.get(turnKey(header, this.consensus)) ?? 0) >= this.max;
  }
}
