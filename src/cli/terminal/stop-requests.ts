/**
 * The requests that end a running node: signals, the node itself, and errors that no code has
 * caught. An error also ends it in an orderly way and passes its cause on, so that the store loses
 * no acknowledged data.
 */
import type { LogControl } from '../../adapters/log.ts';
import { AssertionError } from '../../base/assert.ts';
import { CliError, EXIT } from './exit.ts';

/** A stop that takes longer ends the process anyway. */
const STOP_MS_MAX = 10_000;

export interface StopRequests {
  /** The first request, with a cause where a failure is the reason. */
  readonly requested: Promise<Error | undefined>;
  request(cause?: Error): void;
  /** Starts the time limit of the stop; `exitCode` is used if the stop does not end. */
  expectEnd(exitCode: number): void;
  /** Called at the end: signals have their default effect again. */
  release(): void;
}

export const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
/** Of a command that ends with its terminal. */
export const TERMINAL_SIGNALS = [...STOP_SIGNALS, 'SIGHUP'] as const;

export interface StopOptions {
  readonly stopSignals?: readonly NodeJS.Signals[];
  /** What the process runs: its events are named after it. */
  readonly service?: 'node' | 'data' | 'signer';
}

export function stopRequests(
  log: LogControl,
  { stopSignals = STOP_SIGNALS, service = 'node' }: StopOptions,
): StopRequests {
  const { promise: requested, resolve: request } = Promise.withResolvers<Error | undefined>();
  let signals = 0;
  let deadline: NodeJS.Timeout | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    log.info(`${service}.stopping`, { signal });
    // The second signal ends the process at once; the store loses no acknowledged data.
    if (++signals > 1) process.exit(EXIT.failure);
    request(undefined);
  };
  const onError = (cause: Error): void => {
    log.error(`${service}.failed`, { why: cause.stack ?? cause.message });
    const [line] = cause.message.split('\n');
    const what = service === 'data' ? 'data service' : service;
    const text = `the ${what} itself has failed: ${line}; please report what its log says`;
    request(cause instanceof AssertionError ? cause : new CliError(text, EXIT.assertion));
  };
  for (const signal of stopSignals) process.on(signal, onSignal);
  process.on('uncaughtException', onError);
  return {
    requested,
    request,
    expectEnd(exitCode) {
      deadline ??= setTimeout(() => {
        log.error(`${service}.stop-timeout`);
        log.flush();
        process.exit(exitCode || EXIT.failure);
      }, STOP_MS_MAX);
    },
    release() {
      clearTimeout(deadline);
      for (const signal of stopSignals) process.removeListener(signal, onSignal);
      process.removeListener('uncaughtException', onError);
    },
  };
}
