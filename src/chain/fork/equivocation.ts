/**
 * Evidence of miners that make two blocks in one turn (consensus.md#equivocation). The pair is kept
 * among the last ones, logged and counted. The node does not punish the miner; an operator can take the
 * role away.
 *
 * Invariants: only headers with a valid signature arrive here; both memories are bounded, and hold
 * nothing of a message or a block but its header.
 */
import { base58 } from '../../base/base58.ts';
import { equal } from '../../base/bytes.ts';
import type { Log } from '../../base/ports/log.ts';
import { decodeLink, encodeLink, type Header } from '../../block/header.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import { type Consensus, turnKey } from '../../consensus/consensus.ts';

const HEADERS_MAX = 5_000;
const EVIDENCE_MAX = 1_000;

export interface Evidence {
  readonly first: Header;
  readonly second: Header;
}

export interface Equivocations {
  /** Returns the evidence that this header completes, where the turn has none yet. */
  note(header: Header): Evidence | undefined;
  /**
   * True for a block of a turn that two other blocks prove. It replaces none of them: a miner could
   * otherwise sign block after block, each with a lower id, and have each one applied.
   */
  isThird(header: Header): boolean;
}

export function createEquivocations(
  consensus: Pick<Consensus, 'turnOf'>,
  scheme: ChainScheme,
  log: Log,
): Equivocations {
  const seen = new Map<string, Header>();
  let evidence: Evidence[] = [];

  /** One pair is proof enough, however many more blocks the miner signs in this turn. */
  const isProved = (by: Header): boolean =>
    evidence.some(({ first }) => equal(first.signature, by.signature));

  return {
    isThird(header) {
      const first = seen.get(turnKey(header, consensus));
      const pair = evidence.find((one) => one.first === first);
      if (pair === undefined) return false;
      const both = [pair.first, pair.second];
      return !both.some(({ signature }) => equal(signature, header.signature));
    },
    note(header) {
      const turn = turnKey(header, consensus);
      const first = seen.get(turn);
      if (first === undefined) {
        if (seen.size >= HEADERS_MAX) seen.delete(seen.keys().next().value ?? '');
        seen.set(turn, copyOf(header, scheme));
        return undefined;
      }
      if (equal(first.signature, header.signature) || isProved(first)) return undefined;
      const found = { first, second: copyOf(header, scheme) };
      evidence = [...evidence, found].slice(-EVIDENCE_MAX);
      log.warn('block.equivocation', {
        generator: base58.encode(header.generator),
        turn: consensus.turnOf(header),
        first: base58.encode(first.signature),
        second: base58.encode(header.signature),
        total: evidence.length,
      });
      return found;
    },
  };
}

/**
 * A header read from a message is a view into the whole message, with all that it claims. Without its
 * justification, which is long, it proves as much: the signature does not cover that.
 */
const copyOf = (header: Header, scheme: ChainScheme): Header =>
  decodeLink(encodeLink(header, scheme), scheme);
