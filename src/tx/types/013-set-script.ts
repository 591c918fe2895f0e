/**
 * Sets or removes the script of the sender's account (transactions.md#proof-style).
 *
 *   v1  type 1 | version 1 | chainId 1 | senderPublicKey 32 | script 1 or 3+n | name 2+n
 *       | description 2+n | fee 8 | timestamp 8
 */
import { apiError, refused } from '../../base/errors.ts';
import { check, text16 } from '../../codec/primitives.ts';
import { withDefault } from '../../codec/struct.ts';
import type { LedgerView } from '../../ledger/ledger.ts';
import { changesAfter, rolesAt } from '../../ledger/permissions.ts';
import { CONTRACT_DEVELOPER } from '../../ledger/roles.ts';
import { scripts } from '../../ledger/tables.ts';
import { nameProblem } from '../../script/language/declared-names.ts';
import type { Script } from '../../script/script.ts';
import { chainId, fee, script, senderPublicKey, timestamp } from '../fields/shared.ts';
import { feature } from '../rules/features.ts';
import { decodedScript } from '../scripts/known-scripts.ts';
import { optional } from '../scripts/record-values.ts';
import type { BlockContext } from '../transaction.ts';
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
  newScript: ({ fields }) => fields.script,
  record: ({ fields }) => ({ script: optional(fields.script) }),
  apply({ fields, sender, timestamp: time }, ledger, block) {
    guardRoles(ledger, sender, [time, block.timestamp], block);
    if (fields.script === undefined) {
      ledger.remove(scripts, sender);
      return;
    }
    if (!block.features.has(feature.smartAccountTrading)) {
      guardNames(decodedScript(fields.script, ledger.scheme));
    }
    ledger.set(scripts, sender, fields.script);
  },
});

/** A script would let its account act in a role without its key. */
function guardRoles(
  view: LedgerView,
  sender: Uint8Array,
  times: readonly number[],
  block: BlockContext,
): void {
  const roles = [
    ...times.flatMap((time) => rolesAt(view, sender, time)),
    // A role that begins later could not be used with a script either.
    ...(block.features.has(feature.liveness) ? changesAfter(view, sender, block.timestamp) : []),
  ];
  if (roles.every(({ role }) => role === CONTRACT_DEVELOPER)) return;
  throw refused(
    'Script cannot be assigned to an account with a role other than contract_developer!',
  );
}

/** Before feature 10 a script of version 1 declares no name twice. */
function guardNames({ version, tree }: Script): void {
  const problem = version === 1 ? nameProblem(tree) : undefined;
  if (problem !== undefined) throw refused(problem);
}
