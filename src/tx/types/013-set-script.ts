/**
 * Sets or removes the script of the sender's account (transactions.md#proof-style).
 *
 *   v1  type 1 | version 1 | chainId 1 | senderPublicKey 32 | script 1 or 3+n | name 2+n
 *       | description 2+n | fee 8 | timestamp 8
 */
import { apiError } from '../../base/errors.ts';
import { check, text16 } from '../../codec/primitives.ts';
import { withDefault } from '../../codec/struct.ts';
import { chainId, fee, script, senderPublicKey, timestamp } from '../fields/shared.ts';
import { feature } from '../rules/features.ts';
import { transaction } from '../transaction.ts';

const NAME_CHARS_MAX = 128;

const name = check(
  text16(),
  ({ length }) =>
    length < 1 || length > NAME_CHARS_MAX
      ? apiError('Invalid', `name field length must be between 1 and ${NAME_CHARS_MAX}`)
      : undefined,
  { minLength: 1, maxLength: NAME_CHARS_MAX },
);

export const setScript = transaction({
  type: 13,
  name: 'SetScriptTransaction',
  key: 'set-script',
  doc: 'Sets or removes the script of an account.',
  fields: {
    chainId,
    senderPublicKey,
    script,
    name,
    description: withDefault(text16(), ''),
    fee,
    timestamp,
  },
  layouts: [
    {
      version: 1,
      frame: 'proven',
      fields: ['chainId', 'senderPublicKey', 'script', 'name', 'description', 'fee', 'timestamp'],
    },
  ],
  features: [feature.smartAccounts],
  fee: 50_000_000n,
});
