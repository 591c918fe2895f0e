/** What a contract runs: the image, its hash, the contract's name (contracts.md#transactions). */

import { apiError } from '../../base/errors.ts';
import { SHA256_HEX } from '../../base/hex.ts';
import type { Codec } from '../../codec/codec.ts';
import { check, text16 } from '../../codec/primitives.ts';
import { shown } from '../../codec/text.ts';

const NAME_CHARS_MAX = 200;

const nameOf = (what: string): Codec<string> =>
  check(
    text16(),
    ({ length }) =>
      length >= 1 && length <= NAME_CHARS_MAX
        ? undefined
        : apiError(
            'Invalid',
            `Incorrect ${what} length: ${length}. Length must be between 1 and ${NAME_CHARS_MAX}`,
          ),
    { minLength: 1, maxLength: NAME_CHARS_MAX },
  );

export const image = nameOf('image');
export const contractName = nameOf('contract name');

/** SHA-256 of the image as text. Upper and lower case are different bytes; both are valid. */
export const imageHash: Codec<string> = check(
  text16(),
  (value) =>
    SHA256_HEX.test(value)
      ? undefined
      : apiError('Invalid', `Image hash string ${shown(value)} is not valid SHA-256 hex string`),
  { pattern: SHA256_HEX.source },
);
