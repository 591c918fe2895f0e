/**
 * What a node does after two final blocks that contradict each other (finality.md#contradictions): it makes no block,
 * votes no more and changes to no other branch, says so, and shows its peers the proof. It goes on answering.
 */
import { base58 } from '../../base/base58.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Store } from '../../base/ports/store.ts';
import type { Blockchain } from '../../chain/blockchain.ts';
import {
  areReplaced,
  conflictText,
  conflictWrite,
  isSettled,
  requireNoConflict,
} from '../../chain/finality/final-conflict.ts';
import type { ChainScheme } from '../../codec/codec.ts';
import type { Conflict } from '../../finality/conflicts.ts';
import type { VoterOverride } from '../../tx/rules/chain-rules.ts';

export interface FinalStopPorts {
  readonly blockchain: Blockchain;
  readonly store: Store;
  readonly scheme: ChainScheme;
  readonly log: Log;
  readonly overrides: readonly VoterOverride[];
}

export class FinalStop {
  private readonly ports: FinalStopPorts;
  private found: Conflict | undefined;

  constructor(ports: FinalStopPorts) {
    this.ports = ports;
  }

  /** Throws StartError where the node has stopped before, and nobody has decided. */
  require(): void {
    const { blockchain, overrides } = this.ports;
    requireNoConflict(blockchain.view, overrides, blockchain.tip().height);
  }

  /** Why the node has stopped; undefined while it works. */
  reason(): string | undefined {
    return this.found && conflictText(this.found);
  }

  /** `change`: of the sets that decided on the other block. False where operators have decided already. */
  stops(found: Conflict, change: number): boolean {
    const { blockchain, store, scheme, log, overrides } = this.ports;
    const { own, other } = found;
    const { source } = other.link;
    const { height } = blockchain.tip();
    const isDecided =
      isSettled(found, overrides, height) ||
      areReplaced(blockchain.view, change, overrides, height);
    if (isDecided) {
      log.warn('finality.older-conflict', { height: source.height });
      return false;
    }
    this.found = found;
    log.error('finality.conflict', {
      final: own.height,
      header: base58.encode(own.id),
      other: source.height,
      otherHeader: base58.encode(source.id),
    });
    blockchain
      .exclusive(() => store.write([conflictWrite(found, scheme)]))
      .catch((cause) => log.error('finality.proof-failed', { why: String(cause) }));
    return true;
  }
}
