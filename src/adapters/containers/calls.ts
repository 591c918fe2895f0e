/**
 * Calls in one container, each until its outcome, its time limit, the end of the container, or until
 * nobody wants it any more. A call leaves nothing behind that would grow with their number.
 */

import { pause } from '../../base/deadline.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ContractExecution, ContractOutcome } from '../../base/ports/containers.ts';
import type { ContainerSession } from './container-interface.ts';
import { EngineAway, EngineRefusal } from './engine-client.ts';
import { Failed, ofContract, passing } from './failures.ts';

export interface CallOptions {
  readonly executionMs: number;
  readonly protocol: 'exec' | 'grpc';
  /** As messages name the container. */
  readonly containerId: string;
}

export interface Calls {
  /** Rejects with Failed or EngineAway where the container is then unfit for other calls. */
  run(execution: ContractExecution): Promise<ContractOutcome>;
  /** Ends all calls. The container has ended like this; undefined: the node ends it. */
  end(how: string | undefined): void;
}

/** By signal 9: by the kernel for lack of memory, or with its container. */
const KILLED = 137;
/**
 * Until the engine has seen the end of a container that the node sees before: a busy engine is late. The time limit of
 * a call ends the wait before, where it is shorter.
 */
export const END_SEEN_MS = 2000;

export function createCalls(
  { executionMs, protocol, containerId }: CallOptions,
  session: ContainerSession,
  clock: Pick<Clock, 'after'>,
): Calls {
  const running = new Map<AbortController, ContractExecution>();

  return {
    async run(execution) {
      const { signal: wanted, transaction } = execution;
      const limit = new AbortController();
      const cut = aborted(limit.signal);
      const cancel = clock.after(executionMs, () => {
        const where = protocol === 'exec' ? '' : `, container '${containerId}'`;
        const message = `Contract '${transaction.contractId}' execution timeout${where}`;
        limit.abort(new Failed(ofContract(message)));
      });
      const unwanted = (): void => limit.abort(NOT_WANTED);
      wanted?.addEventListener('abort', unwanted);
      if (wanted?.aborted) unwanted();
      running.set(limit, execution);
      try {
        const outcome = await Promise.race([session.run(execution, limit.signal), cut]);
        // The end of a script may be seen before the end of the container that caused it.
        if (wasKilled(outcome)) await Promise.race([cut, pause(clock, END_SEEN_MS)]);
        return outcome;
      } catch (cause) {
        throw failureOf(cause);
      } finally {
        cancel();
        wanted?.removeEventListener('abort', unwanted);
        running.delete(limit);
      }
    },

    end(how) {
      for (const [limit, { transaction }] of running) {
        const message = `Container '${containerId}' of contract '${transaction.contractId}' ${how}`;
        limit.abort(how === undefined ? STOPPED : new Failed(ofContract(message)));
      }
    },
  };
}

const STOPPED = new Failed(passing('The container was stopped'));
const NOT_WANTED = new Failed(passing('The call is no longer wanted'));

const wasKilled = (outcome: ContractOutcome): boolean =>
  outcome.kind === 'error' && outcome.code === KILLED;

/** Rejects with the reason of the signal. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

export function failureOf(cause: unknown): Failed | EngineAway {
  if (cause instanceof Failed || cause instanceof EngineAway) return cause;
  // What an engine refuses, such as a main command that does not exist, is a fault of the image.
  const isRefused = cause instanceof EngineRefusal && cause.status < 500;
  const message = 'The container failed';
  return new Failed(isRefused ? ofContract(message) : passing(message), { cause });
}
