/**
 * Which errors say something about this machine and nothing about an input: its disk, its memory,
 * its files and sockets, its threads. Code that turns errors into refusals throws these on.
 */
import { AssertionError } from '../assert.ts';
import { ApiError, OwnFailure } from '../errors.ts';
import { StoreCorruptError } from './store-damage.ts';

export function isOwnFault(cause: unknown): boolean {
  if (cause instanceof ApiError) return cause instanceof OwnFailure;
  if (cause instanceof AssertionError) return true;
  if (cause instanceof StoreCorruptError) return true;
  if (!(cause instanceof Error) || cause instanceof DOMException) return false;
  return isOfSystem(cause) || isOfMemory(cause) || isOwnFault(cause.cause);
}

/** The system names its call or its number; the binding of the store has a number as its code. */
function isOfSystem(cause: Error): boolean {
  const { syscall, errno, code } = cause as Coded;
  if (syscall !== undefined || errno !== undefined) return true;
  return typeof code === 'number' || (typeof code === 'string' && OF_THREADS.test(code));
}

interface Coded {
  readonly syscall?: unknown;
  readonly errno?: unknown;
  readonly code?: unknown;
}

const OF_THREADS = /^ERR_WORKER_|^ERR_MEMORY_/;
const NO_MEMORY = /allocation failed|out of memory/i;

/** The engine has no code for it; a stack that is too deep is a RangeError, too. */
const isOfMemory = (cause: Error): boolean =>
  cause instanceof RangeError && NO_MEMORY.test(cause.message);
