/**
 * Alias names as clients write them in paths: bare or `alias:<chain character>:<name>`
 * (rest.md#parameters).
 */
import { apiError } from '../base/errors.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { aliasFromText, aliasProblem } from '../tx/fields/recipient.ts';

/** The bare name. Throws CodecError or ApiError Invalid. */
export function readAlias(text: string, scheme: ChainScheme): string {
  if (text.startsWith('alias:')) return aliasFromText(text, 'obj', scheme);
  const problem = aliasProblem(text);
  if (problem !== undefined) throw apiError('Invalid', problem);
  return text;
}
