/**
 * Announced blocks that are being fetched and checked.
 *
 * Invariants: there is one arrival for each header, byte for byte, from any peer; the number of
 * arrivals is limited, in all and for the peer that announced them first, and so are the peers to
 * ask for each.
 */
import type { CompactBlock } from '../messages/block-messages.ts';

/** The arrival of one header; another header with the same id is another arrival. */
export interface Arrival<Source> {
  readonly compact: CompactBlock;
  readonly message: Uint8Array;
  /** The peer that sent the message. */
  readonly author: Source;
  /** The peers to ask for its parts, the author first; each has sent this header. */
  readonly sources: Source[];
  /** Undefined until its header is known to be of use. */
  stage?: Stage;
}

/** `complete`: all of it is here, and its generator has signed it. */
export type Stage = 'announced' | 'complete';

export const ARRIVING_MAX = 32;
export const ARRIVING_OF_ONE_MAX = 4;
const SOURCES_MAX = 4;

export class Arrivals<Source> {
  private readonly byHeader = new Map<string, Arrival<Source>>();

  /** False where the block is not arriving; otherwise the peer is added to those to ask. */
  join(header: string, source: Source): boolean {
    const running = this.byHeader.get(header);
    if (running === undefined) return false;
    const { sources } = running;
    if (sources.length < SOURCES_MAX && !sources.includes(source)) sources.push(source);
    return true;
  }

  hasRoom(author: Source): boolean {
    if (this.byHeader.size >= ARRIVING_MAX) return false;
    const own = [...this.byHeader.values()].filter((one) => one.author === author);
    return own.length < ARRIVING_OF_ONE_MAX;
  }

  add(header: string, arrival: Arrival<Source>): void {
    this.byHeader.set(header, arrival);
  }

  all(): Iterable<Arrival<Source>> {
    return this.byHeader.values();
  }

  remove(header: string): void {
    this.byHeader.delete(header);
  }
}
