/**
 * Gives the sender a name (transactions.md#signature-style, transactions.md#proof-style).
 *
 *   v1  type 1 | senderPublicKey 32 | alias 2+4+n | fee 8 | timestamp 8
 *   v2  type 1 | version 1 | fields of v1
 *   v3  feeAssetId at the end; v4 also badge
 *
 * The id is a hash of type and alias only, so two transactions for one alias have the same id on
 * purpose.
 */
import { concat } from '../../base/bytes.ts';
import { refused } from '../../base/errors.ts';
import { aliasOwner, claimAlias, hasAlias } from '../../ledger/aliases.ts';
import { atomicBadge } from '../fields/extensions.ts';
import { alias, aliasBytes } from '../fields/recipient.ts';
import { fee, feeAssetId, senderPublicKey, timestamp } from '../fields/shared.ts';
import { feature } from '../rules/features.ts';
import { transaction } from '../transaction.ts';

const TYPE = 10;
const first = ['senderPublicKey', 'alias', 'fee', 'timestamp'];
const third = [...first, 'feeAssetId'];

export const createAlias = transaction({
  type: TYPE,
  name: 'CreateAliasTransaction',
  key: 'create-alias',
  doc: 'Gives the sender an alias.',
  fields: { senderPublicKey, alias, fee, timestamp, feeAssetId, atomicBadge },
  layouts: [
    { version: 1, frame: 'signedLast', fields: first },
    { version: 2, frame: 'proven', fields: first, feature: feature.smartAccounts },
    { version: 3, frame: 'proven', fields: third, feature: feature.sponsoredFees },
    { version: 4, frame: 'proven', fields: [...third, 'atomicBadge'], feature: feature.atomic },
  ],
  fee: 100_000_000n,
  id: (values, _body, scheme) =>
    scheme.fastHash(concat(Uint8Array.of(TYPE), aliasBytes(values.alias, scheme))),
  record: ({ fields }) => ({ alias: fields.alias }),
  apply({ fields, sender }, ledger) {
    if (hasAlias(ledger, sender)) throw refused('Only one alias per address is allowed');
    if (aliasOwner(ledger, fields.alias) !== undefined) throw refused('Alias already claimed');
    claimAlias(ledger, fields.alias, sender);
  },
});
