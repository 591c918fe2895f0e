/**
 * The running calls of one container, found by their tokens. Tokens are compared in a time that does
 * not depend on which of them matches.
 */

import type { Clock } from '../../../base/ports/clock.ts';
import type { ContractExecution, ContractOutcome } from '../../../base/ports/containers.ts';
import { sameToken } from './tokens.ts';

export interface Call {
  readonly execution: ContractExecution;
  /** The moment at which its token ends. */
  readonly until: number;
  requests: number;
  settle(outcome: ContractOutcome): void;
  fail(cause: unknown): void;
}

export interface Calls {
  /** The running call with this token, as long as the token is valid. */
  of(token: string): Call | undefined;
  isRunning(call: Call): boolean;
  /** True for the token of the last call that ended, so that a late commit learns that it is late. */
  isLate(token: string): boolean;
  /** True for the token of any running call, and of the last one that ended. */
  owns(token: string): boolean;
  /** Rejects when the signal aborts, or when all calls fail. */
  begin(execution: ContractExecution, signal: AbortSignal): Promise<ContractOutcome>;
  failAll(cause: unknown): void;
}

export function createCalls(tokenLifetimeMs: number, clock: Pick<Clock, 'monotonic'>): Calls {
  const running = new Set<Call>();
  let lastToken: string | undefined;

  const isLate = (token: string): boolean => lastToken !== undefined && sameToken(token, lastToken);

  return {
    of(token) {
      let found: Call | undefined;
      for (const call of running) if (sameToken(token, call.execution.token)) found = call;
      return found !== undefined && clock.monotonic() < found.until ? found : undefined;
    },
    isRunning: (call) => running.has(call),
    isLate,
    owns(token) {
      let isOwn = false;
      for (const { execution } of running) isOwn = sameToken(token, execution.token) || isOwn;
      return isLate(token) || isOwn;
    },
    begin(execution, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<ContractOutcome>();
      const over = (): void => {
        running.delete(call);
        lastToken = execution.token;
        signal.removeEventListener('abort', abort);
      };
      // Later, since the owner aborts at the end of a container too, and words it better.
      const abort = (): void => {
        over();
        setImmediate(reject, signal.reason);
      };
      const call: Call = {
        execution,
        until: clock.monotonic() + tokenLifetimeMs,
        requests: 0,
        settle(outcome) {
          over();
          resolve(outcome);
        },
        fail(cause) {
          over();
          reject(cause);
        },
      };
      signal.addEventListener('abort', abort);
      running.add(call);
      return promise;
    },
    failAll(cause) {
      for (const call of running) call.fail(cause);
    },
  };
}
