/**
 * The executions that are under way, found by their tokens. Both interfaces to a container read
 * the state through them (contracts.md#reads-of-a-running-contract).
 *
 * Invariants: a token opens nothing after its execution has ended or its time is over; tokens are
 * found by their hash, so that the time of a look-up tells nothing about the tokens that exist.
 */
import { latin1, utf8 } from '../../base/bytes.ts';
import { apiError } from '../../base/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ContractReads } from '../../base/ports/containers.ts';
import type { Random } from '../../base/ports/random.ts';
import type { StoredTx } from '../../chain/store/stored-blocks.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { REQUESTS_PER_CALL_MAX } from '../reads/read-budget.ts';

export interface RunningExecution {
  readonly txId: Uint8Array;
  readonly contractId: Uint8Array;
  /** Height of the block that is being made. */
  readonly height: number;
  /**
   * The state of the block that is being made, with the results of the calls before this one. Every
   * row counts against the budget of the execution; above it, reads throw ApiError AnswerTooBig.
   */
  readonly view: LedgerView;
  /** The result of a transaction, also one of the block that is being made. */
  executedFor(id: Uint8Array): StoredTx | undefined;
  /** The same reads as `view`, for the gRPC interface. */
  readonly reads: ContractReads;
}

export interface Executions {
  /** Issues the token of an execution. */
  begin(execution: RunningExecution): string;
  /** Ends the execution of this token. */
  end(token: string): void;
  /** Throws ApiError where the token is absent (618), or opens no execution any more (622). */
  find(token: string): RunningExecution;
  /** As `find`, at the begin of a request; also throws ApiError AnswerTooBig after too many. */
  admit(token: string): void;
  /** Number of executions under way. */
  readonly size: number;
}

export interface ExecutionsPorts {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly random: Random;
  readonly hash: (message: Uint8Array) => Uint8Array;
}

const TOKEN_BYTES = 32;

interface Open {
  readonly execution: RunningExecution;
  readonly until: number;
  requests: number;
}

/** Tokens live at most this long, and never longer than their execution. */
export function createExecutions(lifetimeMs: number, ports: ExecutionsPorts): Executions {
  const { clock, random, hash } = ports;
  const byHash = new Map<string, Open>();
  const hashOf = (token: string): string => latin1(hash(utf8(token)));
  const open = (token: string): Open => {
    if (token === '') throw apiError('ContractTokenMissing');
    const found = byHash.get(hashOf(token));
    if (found === undefined || clock.monotonic() >= found.until) {
      throw apiError('ContractTokenInvalid');
    }
    return found;
  };
  return {
    begin(execution) {
      const token = Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url');
      byHash.set(hashOf(token), { execution, until: clock.monotonic() + lifetimeMs, requests: 0 });
      return token;
    },
    end(token) {
      byHash.delete(hashOf(token));
    },
    find: (token) => open(token).execution,
    admit(token) {
      const found = open(token);
      found.requests++;
      if (found.requests <= REQUESTS_PER_CALL_MAX) return;
      throw apiError('AnswerTooBig', `one execution has at most ${REQUESTS_PER_CALL_MAX} requests`);
    },
    get size() {
      return byHash.size;
    },
  };
}
