/** Refusals of what a request says of the length of its body. */
import { apiError } from '../../base/errors.ts';
import type { HttpReply } from '../../base/ports/http.ts';
import { errorReply } from './reply.ts';

export const TWO_LENGTHS = errorReply(
  apiError('Invalid', 'Content-Length is given twice, with different values'),
);

export function tooBig(actual: number, max: number): HttpReply | undefined {
  return actual > max ? errorReply(apiError('BodyTooBig', actual, max)) : undefined;
}
