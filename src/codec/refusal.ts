/**
 * From codec errors to what clients see (rest-api.md §2.1, §2.3): a missing member or a wrong
 * kind is code 1 with the paths, a value against its own rule keeps the code of that rule.
 */
import { type ApiError, apiError } from '../base/errors.ts';
import type { CodecError } from './codec.ts';

/** Code 1 with every path; a request that is wrong in its shape hears of all wrong members. */
export function malformed(errors: readonly CodecError[]): ApiError {
  const validationErrors: Record<string, [{ msg: [string]; args: [] }]> = {};
  for (const { path, why } of errors) {
    validationErrors[path] = [{ msg: [why], args: [] }];
  }
  return apiError('MalformedJson').with({ cause: null, validationErrors });
}

/** The refusal for one value that could not be read from JSON. */
export function refusalOf(error: CodecError): ApiError {
  return error.api ?? malformed([error]);
}

/** The refusal for several: wrong shapes come before broken rules, rules in field order. */
export function refusalOfAll(errors: readonly [CodecError, ...CodecError[]]): ApiError {
  const shapes = errors.filter((error) => error.api === undefined);
  return shapes.length > 0 ? malformed(shapes) : refusalOf(errors[0]);
}
