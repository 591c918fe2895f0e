/**
 * Turns of blocks that came in time: a child of another block carries those of blocks that lost, so
 * that their miners are not marked (consensus.md#turn-claims).
 *
 * Invariants: each turn was signed by its generator, a miner, and came before its round ended; what
 * is not known to be signed takes the place of no other; the memory is bounded, and so are the
 * signatures that are checked for it at a time.
 */
import { latin1 } from '../../base/bytes.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Verifier } from '../../base/ports/verifier.ts';
import type { Header } from '../../block/header.ts';
import { type LostTurn, lostTurnOf, turnCheck } from '../../block/turn-claims.ts';
import { type Consensus, isFromFuture, turnKey } from '../../consensus/consensus.ts';
import { consensusView } from '../apply/consensus-view.ts';
import type { Blockchain } from '../blockchain.ts';

export interface LostBlocks {
  /**
   * Notes the turn of a block that comes in time, if the turn is signed. Nobody is blamed where it is
   * not, since an honest peer hands a block on before it looks at its claims.
   */
  note(header: Header): Promise<void>;
  /** All turns that came in time, those of blocks in the chain too. */
  turns(): readonly LostTurn[];
}

export interface LostBlocksPorts {
  readonly blockchain: Blockchain;
  readonly consensus: Pick<Consensus, 'turnOf' | 'hasEnded'>;
  readonly verifier: Pick<Verifier, 'verifyOne'>;
  readonly clock: Pick<Clock, 'now'>;
}

const TURNS_MAX = 64;
const CHECKING_MAX = 16;

export function createLostBlocks(ports: LostBlocksPorts): LostBlocks {
  const { blockchain, consensus, verifier, clock } = ports;
  const { scheme } = blockchain.view;
  /** By miner and round, oldest first: one is enough, since its miner has signed it. */
  const known = new Map<string, LostTurn>();
  /**
   * Those whose signature is being checked, by all that is signed and the signature: anybody can
   * send a second header of the same turn.
   */
  const checking = new Set<string>();
  blockchain.listen({ block: ({ block }) => take(block.row.header) });

  /** Keeps the turn of a block in the chain, whose signatures are good. */
  function take(header: Header): void {
    const turn = lostTurnOf(header);
    if (turn !== undefined && !consensus.hasEnded(header, clock.now())) {
      keep(turnKey(header, consensus), copyOf(turn));
    }
  }

  function keep(key: string, turn: LostTurn): void {
    known.set(key, turn);
    const [oldest] = known.keys();
    if (known.size > TURNS_MAX && oldest !== undefined) known.delete(oldest);
  }

  return {
    async note(header) {
      const turn = lostTurnOf(header);
      const key = turnKey(header, consensus);
      if (turn === undefined || known.has(key)) return;
      const own = copyOf(turn);
      const { publicKey, message, signature } = turnCheck(own, scheme);
      const claim = latin1(message) + latin1(signature);
      if (checking.has(claim) || checking.size >= CHECKING_MAX) return;
      const address = scheme.addressOf(header.generator);
      const isMiner = consensusView(blockchain.view).isMiner(address, header.timestamp);
      const now = clock.now();
      const isInTime = !isFromFuture(header.timestamp, now) && !consensus.hasEnded(header, now);
      if (!isMiner || !isInTime) return;
      checking.add(claim);
      const isGood = await verifier.verifyOne(publicKey, message, signature).finally(() => {
        checking.delete(claim);
      });
      if (isGood) keep(key, own);
    },
    turns: () => [...known.values()],
  };
}

/** A header read from a message is a view into the whole message. */
const copyOf = ({ timestamp, reference, generator, signature }: LostTurn): LostTurn => ({
  timestamp,
  reference: reference.slice(),
  generator: generator.slice(),
  signature: signature.slice(),
});
