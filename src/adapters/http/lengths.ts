/** What a request says of the length of its body. */
import { apiError } from '../../base/errors.ts';
import type { HttpReply } from '../../base/ports/http.ts';
import type { Request } from './app.ts';
import { errorReply } from './reply.ts';

export const TWO_LENGTHS = errorReply(
  apiError('Invalid', 'Content-Length is given twice, with different values'),
);

/**
 * A server in front of this one may take another of the two lengths, and what is body to the one is
 * then a request to the other. The parser takes an empty length for none, so every request is
 * looked through.
 */
export function hasTwoLengths(request: Request): boolean {
  first = undefined;
  differ = false;
  request.forEach(compare);
  return differ;
}

// Of the request that is looked through: a function that closes over them would be made each time.
let first: string | undefined;
let differ = false;

function compare(name: string, value: string): void {
  if (name !== 'content-length') return;
  if (first !== undefined && value !== first) differ = true;
  first ??= value;
}

export function tooBig(actual: number, max: number): HttpReply | undefined {
  return actual > max ? errorReply(apiError('BodyTooBig', actual, max)) : undefined;
}
