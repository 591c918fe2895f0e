/**
 * Writes entries to the data of the sender; the author pays (transactions.md#proof-style,
 * transactions.md#data-entries).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | authorPublicKey 32 | count 2, entries
 *       | timestamp 8 | fee 8
 *   v2  feeAssetId at the end; v3 also badge
 */
import { equal } from '../../base/bytes.ts';
import { putData } from '../../ledger/data.ts';
import { dataEntries } from '../fields/entries.ts';
import { atomicBadge } from '../fields/extensions.ts';
import { fee, feeAssetId, publicKey, senderPublicKey, timestamp } from '../fields/shared.ts';
import { requireAuthor, requireScriptBesideAuthor } from '../rules/data-author.ts';
import { feature } from '../rules/features.ts';
import { dataEntry } from '../scripts/record-values.ts';
import { transaction } from '../transaction.ts';

const KIB = 1024;

const first = ['senderPublicKey', 'authorPublicKey', 'data', 'timestamp', 'fee'];
const second = [...first, 'feeAssetId'];

export const data = transaction({
  type: 12,
  name: 'DataTransaction',
  key: 'data',
  doc: 'Writes data entries of an account.',
  fields: {
    senderPublicKey,
    authorPublicKey: publicKey,
    data: dataEntries,
    timestamp,
    fee,
    feeAssetId,
    atomicBadge,
  },
  layouts: [
    { version: 1, frame: 'proven', fields: first },
    { version: 2, frame: 'proven', fields: second, feature: feature.sponsoredFees },
    { version: 3, frame: 'proven', fields: [...second, 'atomicBadge'], feature: feature.atomic },
  ],
  features: [feature.data],
  fee: 5_000_000n,
  additionalFee: {
    perUnit: 1_000_000n,
    unit: 'KiB',
    units({ body, bytes }, block) {
      const counted = block.features.has(feature.smartAccounts) ? body : bytes;
      return Math.floor((counted.length - 1) / KIB);
    },
  },
  /** The sender is the author unless the request names another author. */
  normalize: (json) =>
    json['authorPublicKey'] === undefined || json['authorPublicKey'] === null
      ? { ...json, authorPublicKey: json['senderPublicKey'] }
      : json,
  accounts: { author: 'authorPublicKey' },
  record: ({ fields }) => ({ data: fields.data.map(dataEntry) }),
  /** An author other than the sender needs the consent of the sender's script (H-13). */
  apply({ fields, sender }, ledger) {
    if (!equal(fields.authorPublicKey, fields.senderPublicKey)) {
      requireScriptBesideAuthor(sender, ledger);
    }
    for (const { key, ...value } of fields.data) putData(ledger, sender, key, value);
  },
  cosigner: ({ fields }) =>
    equal(fields.authorPublicKey, fields.senderPublicKey) ? undefined : fields.authorPublicKey,
  guardNamed: ({ fields, sender }, view) =>
    requireAuthor(view.scheme.addressOf(fields.authorPublicKey), sender, view),
  payer: ({ fields }, scheme) => scheme.addressOf(fields.authorPublicKey),
  involved: ({ fields }, ledger) => [ledger.scheme.addressOf(fields.authorPublicKey)],
});
