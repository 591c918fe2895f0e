/**
 * Turns codec errors into the answers that clients see (rest.md#errors). A missing member or a
 * wrong kind is code 1 with its path. A value that breaks its own rule keeps the code of that rule.
 */
import { type ApiError, apiError, Refusal } from '../base/errors.ts';
import { isOwnFault } from '../base/faults/own-fault.ts';
import { CodecError } from './codec.ts';

/** Code 1 with every path: a request of a wrong shape gets all its wrong members at once. */
export function malformed(errors: readonly CodecError[]): Refusal {
  const validationErrors: Record<string, [{ msg: [string]; args: [] }]> = {};
  for (const { path, why } of errors) {
    validationErrors[path] = [{ msg: [why], args: [] }];
  }
  return apiError('MalformedJson').with({ cause: null, validationErrors });
}

/** The refusal for one value that could not be read from JSON. */
export function refusalOf(error: CodecError): Refusal {
  return error.api ?? malformed([error]);
}

/** The refusal for several errors: wrong shapes come before broken rules, rules in field order. */
export function refusalOfAll(errors: readonly [CodecError, ...CodecError[]]): Refusal {
  const shapes = errors.filter((error) => error.api === undefined);
  return shapes.length > 0 ? malformed(shapes) : refusalOf(errors[0]);
}

/**
 * The refusal of an input whose handling threw `cause`. What is the fault of this machine
 * (base/faults/own-fault.ts) says nothing about the input and is thrown on. Any other error ends the
 * handling of this input and nothing else.
 */
export function refusalFrom(cause: unknown): ApiError {
  if (isOwnFault(cause)) throw cause;
  if (cause instanceof Refusal) return cause;
  if (cause instanceof CodecError) return cause.api ?? apiError('Invalid', cause.message);
  return apiError('Unhandled', String(cause));
}

/**
 * True for errors that no honest peer of this release causes, whatever its head: bytes that do not
 * decode, types that clients may not send. Rules of the state do not count, because the state may
 * have changed since the peer sent the input, and a proof may be what a script permits.
 */
export const isFaultOfPeer = (cause: unknown): cause is CodecError | Refusal =>
  cause instanceof CodecError || (cause instanceof Refusal && cause.fault === 'peer');

/** True where bytes are of a type or version that this release does not have. */
export const isUnknownType = (cause: unknown): boolean =>
  cause instanceof CodecError && cause.api?.entry === 'BadTransactionType';
