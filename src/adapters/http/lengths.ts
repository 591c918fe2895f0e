/** What a request says of the length of its body. */
import { apiError } from '../../base/errors.ts';
import type { HttpReply } from '../../base/http.ts';
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
  const first = request.getHeader('content-length');
  let differ = false;
  request.forEach((name, value) => {
    if (name === 'content-length' && value !== first) differ = true;
  });
  return differ;
}

export function tooBig(actual: number, max: number): HttpReply | undefined {
  return actual > max ? errorReply(apiError('BodyTooBig', actual, max)) : undefined;
}
