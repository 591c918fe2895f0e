/**
 * The gRPC side of one container: its stream of transactions, and what it may send
 * (contracts.md#the-grpc-interface).
 *
 * Invariants: the first Connect is the stream of transactions, and its end is the end of the
 * container; a token of a call opens reads and one commit, as long as the call runs; the token of
 * the connection opens Connect and nothing else.
 */

import { assert } from '../../../base/assert.ts';
import type { ContractExecution, ContractOutcome } from '../../../base/containers.ts';
import { contractLimits as limits } from '../../../base/contract-limits.ts';
import { apiError, Refusal } from '../../../base/errors.ts';
import { isOwnFault } from '../../../base/own-fault.ts';
import type { Clock } from '../../../base/ports.ts';
import { Failed, ofContract } from '../failures.ts';
import { createCalls } from './container-calls.ts';
import { fromEntry } from './entries.ts';
import { nothingHeld } from './frames.ts';
import type { Answering, AnswerStream } from './listener.ts';
import type { Messages } from './messages.ts';
import { readHandlers } from './reads.ts';
import type { ReadRpcs, RequestOf } from './rpcs.ts';
import { GrpcRefusal } from './status.ts';
import { sameToken } from './tokens.ts';
import { transactionMessage } from './transaction.ts';

export interface GrpcContainer {
  /** True where the token is one that this container may show. */
  owns(token: string): boolean;
  /** The headers of a request; throws the refusal. */
  begin(path: string, token: string | undefined): Answering;
  /** Begins the time of the token of the connection. */
  started(): void;
  /** Resolves with the first Connect. */
  readonly connected: Promise<void>;
  /** Rejects when the signal aborts and at the close. An end before is worded by the owner. */
  run(execution: ContractExecution, signal: AbortSignal): Promise<ContractOutcome>;
  /** Resolves with the reason, at most once. */
  readonly ended: Promise<string>;
  end(why: string): void;
  close(): void;
}

export interface GrpcContainerOptions {
  readonly connectionId: string;
  readonly connectionToken: string;
  /** No token lives longer. */
  readonly tokenLifetimeMs: number;
}

/** Characters of what a contract says of its error; a status shows no more. */
const SHOWN_CHARS_MAX = 1_000;

type Unary = (message: Uint8Array) => Uint8Array | Promise<Uint8Array>;

/** The reason of an end that the node wanted. */
export const CLOSED = 'the node closed it';

const CONNECT = 'ContractService/Connect';
const SUCCESS = 'ContractService/CommitExecutionSuccess';
const FAILURE = 'ContractService/CommitExecutionError';

export function createGrpcContainer(
  { connectionId, connectionToken, tokenLifetimeMs }: GrpcContainerOptions,
  messages: Messages,
  clock: Pick<Clock, 'monotonic'>,
): GrpcContainer {
  const calls = createCalls(tokenLifetimeMs, clock);
  const held = nothingHeld();
  const connected = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<string>();
  let transactions: AnswerStream | undefined;
  let connectUntil = clock.monotonic() + tokenLifetimeMs;
  let reason: string | undefined;
  let refusals = 0;

  function end(why: string): void {
    if (reason !== undefined) return;
    reason = why;
    ended.resolve(why);
  }

  /** A container that goes on asking for what it may not have is ended. */
  function countRefusal(cause: unknown): void {
    // A key that is absent is an ordinary answer; requests of a call are counted anyway.
    if (isOwnFault(cause) || (cause instanceof Refusal && cause.status === 404)) return;
    refusals++;
    if (refusals > limits.refusals.value) end('too many refused requests');
  }
  function counted<T>(action: () => T): T {
    try {
      const result = action();
      if (result instanceof Promise) result.catch(countRefusal);
      return result;
    } catch (cause) {
      countRefusal(cause);
      throw cause;
    }
  }
  const unary = (messageBytesMax: number, answer: Unary): Answering => ({
    held,
    messageBytesMax,
    unary: (message) => counted(() => answer(message)),
  });

  function connect(token: string): Answering {
    const isOpen = sameToken(token, connectionToken) && clock.monotonic() < connectUntil;
    if (!isOpen) throw apiError('ContractTokenInvalid');
    const open = (message: Uint8Array, stream: () => AnswerStream): void =>
      counted(() => {
        if (messages.request(CONNECT, message).connectionId !== connectionId) {
          throw new GrpcRefusal('INVALID_ARGUMENT', 'The connection id is unknown');
        }
        const opened = stream();
        // An SDK opens more streams in its threads and ignores what they receive.
        if (transactions !== undefined) return;
        transactions = opened;
        transactions.onEnd(() => end('its stream of transactions ended'));
        connected.resolve();
      });
    return { held, messageBytesMax: limits.connect.value, open };
  }

  function commit(rpc: typeof SUCCESS | typeof FAILURE, token: string): Answering {
    const call = calls.of(token);
    if (call === undefined && calls.isLate(token)) throw late();
    if (call === undefined) throw apiError('ContractTokenInvalid');
    return unary(rpc === SUCCESS ? limits.results.value : limits.message.value, (message) => {
      const request = messages.request(rpc, message);
      if (!calls.isRunning(call)) throw late();
      if (request.txId !== call.execution.transaction.id) {
        throw new GrpcRefusal('INVALID_ARGUMENT', 'The token is for another transaction');
      }
      call.settle('results' in request ? successOf(request) : errorOf(request));
      return messages.response(rpc, {});
    });
  }

  function read<N extends keyof ReadRpcs>(rpc: N, token: string): Answering {
    const call = calls.of(token);
    if (call === undefined) throw apiError('ContractTokenInvalid');
    call.requests++;
    if (call.requests > limits.requests.value) {
      end('too many requests in a call');
      throw new GrpcRefusal('RESOURCE_EXHAUSTED', 'Too many requests in a call');
    }
    return unary(limits.message.value, (message) => {
      if (!calls.isRunning(call)) throw apiError('ContractTokenInvalid');
      const request = messages.request(rpc, message) as ReadRpcs[N]['request'];
      const found = readHandlers[rpc](request, call.execution);
      return found instanceof Promise
        ? found.then((entries) => messages.response(rpc, entries))
        : messages.response(rpc, found);
    });
  }

  return {
    connected: connected.promise,
    ended: ended.promise,
    end,
    close() {
      end(CLOSED);
      calls.failAll(new Error(CLOSED));
    },
    started() {
      connectUntil = clock.monotonic() + tokenLifetimeMs;
    },

    owns(token) {
      const isOfCall = calls.owns(token);
      return sameToken(token, connectionToken) || isOfCall;
    },

    begin: (path, token) =>
      counted(() => {
        if (reason !== undefined)
          throw new GrpcRefusal('UNAVAILABLE', 'The container is being removed');
        const rpc = messages.rpcAt(path);
        if (rpc === undefined) throw new GrpcRefusal('UNIMPLEMENTED', 'There is no such method');
        if (token === undefined || token === '') throw apiError('ContractTokenMissing');
        if (rpc === CONNECT) return connect(token);
        if (rpc === SUCCESS || rpc === FAILURE) return commit(rpc, token);
        return read(rpc, token);
      }),

    async run(execution, signal) {
      signal.throwIfAborted();
      if (reason !== undefined) throw endedBy(reason);
      assert(transactions !== undefined, 'calls begin after Connect');
      const message = messages.response(CONNECT, transactionMessage(execution));
      const outcome = calls.begin(execution, signal);
      transactions.write(message);
      return outcome;
    },
  };
}

/** What the program in a container did is no failure of the system around. */
export const endedBy = (why: string): Error =>
  why === CLOSED
    ? new Error(why)
    : new Failed(ofContract('The container failed'), { cause: new Error(why) });

const late = (): GrpcRefusal =>
  new GrpcRefusal('INVALID_ARGUMENT', 'The execution of this transaction has ended');

/** Throws GrpcRefusal; the contract may commit something else then. */
function successOf(request: RequestOf<typeof SUCCESS>): ContractOutcome {
  if (request.assetOperations.length > 0) {
    throw new GrpcRefusal('INVALID_ARGUMENT', 'Asset operations are not supported');
  }
  return { kind: 'success', results: request.results.map(fromEntry) };
}

const errorOf = ({ code, message }: RequestOf<typeof FAILURE>): ContractOutcome => ({
  kind: 'error',
  code,
  message: message.slice(0, SHOWN_CHARS_MAX),
});
