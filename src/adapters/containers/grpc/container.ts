/**
 * The gRPC side of one container: its stream of transactions, and what it may send
 * (contracts.md#the-grpc-interface).
 *
 * Invariants: the first Connect is the stream of transactions, and its end is the end of the
 * container; a token of a call opens reads and one commit, as long as the call runs; the token of
 * the connection opens Connect and nothing else.
 */

import { assert } from '../../../base/assert.ts';
import { ApiError, apiError } from '../../../base/errors.ts';
import { isOwnFault } from '../../../base/faults/own-fault.ts';
import { contractLimits as limits } from '../../../base/limits/contract-limits.ts';
import type { Clock } from '../../../base/ports/clock.ts';
import type { ContractExecution, ContractOutcome } from '../../../base/ports/containers.ts';
import { Failed, ofContract } from '../failures.ts';
import { type Calls, createCalls } from './container-calls.ts';
import { fromEntry, toEntry, toInt64 } from './entries.ts';
import { nothingHeld } from './frames.ts';
import type { Answering, AnswerStream } from './listener.ts';
import type { Messages } from './messages.ts';
import { readHandlers } from './reads.ts';
import type { ReadRpcs, RequestOf, TransactionMessage } from './rpcs.ts';
import { GrpcRefusal } from './status.ts';
import { sameToken } from './tokens.ts';

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

export class GrpcContainer {
  readonly #options: GrpcContainerOptions;
  readonly #messages: Messages;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #calls: Calls;
  readonly #held = nothingHeld();
  readonly #connected = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<string>();
  #transactions: AnswerStream | undefined;
  #connectUntil: number;
  #reason: string | undefined;
  #refusals = 0;

  constructor(options: GrpcContainerOptions, messages: Messages, clock: Pick<Clock, 'monotonic'>) {
    this.#options = options;
    this.#messages = messages;
    this.#clock = clock;
    this.#calls = createCalls(options.tokenLifetimeMs, clock);
    this.#connectUntil = clock.monotonic() + options.tokenLifetimeMs;
  }

  /** Resolves with the first Connect. */
  get connected(): Promise<void> {
    return this.#connected.promise;
  }

  /** Resolves with the reason, at most once. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  /** True where the token is one that this container may show. */
  owns(token: string): boolean {
    const isOfCall = this.#calls.owns(token);
    return sameToken(token, this.#options.connectionToken) || isOfCall;
  }

  /** The headers of a request; throws the refusal. */
  begin(path: string, token: string | undefined): Answering {
    return this.#counted(() => {
      if (this.#reason !== undefined)
        throw new GrpcRefusal('UNAVAILABLE', 'The container is being removed');
      const rpc = this.#messages.rpcAt(path);
      if (rpc === undefined) throw new GrpcRefusal('UNIMPLEMENTED', 'There is no such method');
      if (token === undefined || token === '') throw apiError('ContractTokenMissing');
      if (rpc === CONNECT) return this.#connect(token);
      if (rpc === SUCCESS || rpc === FAILURE) return this.#commit(rpc, token);
      return this.#read(rpc, token);
    });
  }

  /** Begins the time of the token of the connection. */
  started(): void {
    this.#connectUntil = this.#clock.monotonic() + this.#options.tokenLifetimeMs;
  }

  /** Rejects when the signal aborts and at the close. An end before is worded by the owner. */
  async run(execution: ContractExecution, signal: AbortSignal): Promise<ContractOutcome> {
    signal.throwIfAborted();
    if (this.#reason !== undefined) throw endedBy(this.#reason);
    assert(this.#transactions !== undefined, 'calls begin after Connect');
    const message = this.#messages.response(CONNECT, transactionMessage(execution));
    const outcome = this.#calls.begin(execution, signal);
    this.#transactions.write(message);
    return outcome;
  }

  end(why: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = why;
    this.#ended.resolve(why);
  }

  close(): void {
    this.end(CLOSED);
    this.#calls.failAll(new Error(CLOSED));
  }

  #connect(token: string): Answering {
    const { connectionId, connectionToken } = this.#options;
    const isOpen =
      sameToken(token, connectionToken) && this.#clock.monotonic() < this.#connectUntil;
    if (!isOpen) throw apiError('ContractTokenInvalid');
    const open = (message: Uint8Array, stream: () => AnswerStream): void =>
      this.#counted(() => {
        if (this.#messages.request(CONNECT, message).connectionId !== connectionId) {
          throw new GrpcRefusal('INVALID_ARGUMENT', 'The connection id is unknown');
        }
        const opened = stream();
        // An SDK opens more streams in its threads and ignores what they receive.
        if (this.#transactions !== undefined) return;
        this.#transactions = opened;
        opened.onEnd(() => this.end('its stream of transactions ended'));
        this.#connected.resolve();
      });
    return { held: this.#held, messageBytesMax: limits.connect.value, open };
  }

  #commit(rpc: typeof SUCCESS | typeof FAILURE, token: string): Answering {
    const calls = this.#calls;
    const call = calls.of(token);
    if (call === undefined && calls.isLate(token)) throw new LateCommit();
    if (call === undefined) throw apiError('ContractTokenInvalid');
    const bytesMax = rpc === SUCCESS ? limits.results.value : limits.message.value;
    return this.#unary(bytesMax, (message) => {
      const request = this.#messages.request(rpc, message);
      if (!calls.isRunning(call)) throw new LateCommit();
      if (request.txId !== call.execution.transaction.id) {
        throw new GrpcRefusal('INVALID_ARGUMENT', 'The token is for another transaction');
      }
      call.settle('results' in request ? successOf(request) : errorOf(request));
      return this.#messages.response(rpc, {});
    });
  }

  #read<N extends keyof ReadRpcs>(rpc: N, token: string): Answering {
    const messages = this.#messages;
    const call = this.#calls.of(token);
    if (call === undefined) throw apiError('ContractTokenInvalid');
    call.requests++;
    if (call.requests > limits.requests.value) {
      this.end('too many requests in a call');
      throw new GrpcRefusal('RESOURCE_EXHAUSTED', 'Too many requests in a call');
    }
    return this.#unary(limits.message.value, (message) => {
      if (!this.#calls.isRunning(call)) throw apiError('ContractTokenInvalid');
      const request = messages.request(rpc, message) as ReadRpcs[N]['request'];
      const found = readHandlers[rpc](request, call.execution);
      return found instanceof Promise
        ? found.then((entries) => messages.response(rpc, entries))
        : messages.response(rpc, found);
    });
  }

  #unary(messageBytesMax: number, answer: Unary): Answering {
    const unary: Unary = (message) => this.#counted(() => answer(message));
    return { held: this.#held, messageBytesMax, unary };
  }

  #counted<T>(action: () => T): T {
    try {
      const result = action();
      if (result instanceof Promise) result.catch((cause) => this.#countRefusal(cause));
      return result;
    } catch (cause) {
      this.#countRefusal(cause);
      throw cause;
    }
  }

  /** A container that goes on asking for what it may not have is ended. */
  #countRefusal(cause: unknown): void {
    // What the state refuses is an ordinary answer: it may follow from what a user has sent. Requests
    // of a call are counted anyway.
    const isOrdinary = cause instanceof ApiError && cause.entry !== 'ContractTokenInvalid';
    if (isOrdinary || isOwnFault(cause) || cause instanceof LateCommit) return;
    this.#refusals++;
    if (this.#refusals > limits.refusals.value) this.end('too many refused requests');
  }
}

/** What the program in a container did is no failure of the system around. */
export const endedBy = (why: string): Error =>
  why === CLOSED
    ? new Error(why)
    : new Failed(ofContract('The container failed'), { cause: new Error(why) });

/** A call may end while its contract works. */
class LateCommit extends GrpcRefusal {
  constructor() {
    super('INVALID_ARGUMENT', 'The execution of this transaction has ended');
  }
}

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

/** A call as the container receives it. What the messages do not define stays out of them. */
function transactionMessage(execution: ContractExecution): TransactionMessage {
  const { transaction, block, token } = execution;
  const { data, feeAssetId } = transaction;
  return {
    transaction: {
      ...transaction,
      type: data.kind === 'create' ? 103 : 104,
      params: transaction.params.map(toEntry),
      fee: toInt64(transaction.fee),
      feeAssetId: feeAssetId === undefined ? undefined : { value: feeAssetId },
      ...(data.kind === 'create' ? { createData: data } : { callData: data }),
    },
    authToken: token,
    currentBlockInfo: block,
  };
}
