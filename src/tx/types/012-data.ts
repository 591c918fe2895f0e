/**
 * Writes entries to the data of the sender; the author pays (transactions.md §5.4, §6).
 *
 *   v1  type 1 | version 1 | senderPublicKey 32 | authorPublicKey 32 | count 2, entries
 *       | timestamp 8 | fee 8
 *   v2  feeAssetId at the end; v3 also badge
 */
import { equal } from '../../base/bytes.ts';
import { apiError, refused } from '../../base/errors.ts';
import { putData } from '../../ledger/data.ts';
import { dataEntries } from '../entries.ts';
import { atomicBadge, feature } from '../extensions.ts';
import { fee, feeAssetId, publicKey, senderPublicKey, timestamp } from '../fields.ts';
import { transaction } from '../transaction.ts';

const BYTES_MAX = 150 * 1024;

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
  /** The sender is the author unless another one is named. */
  normalize: (json) =>
    json['authorPublicKey'] === undefined || json['authorPublicKey'] === null
      ? { ...json, authorPublicKey: json['senderPublicKey'] }
      : json,
  check: ({ bytes }) => {
    if (bytes.length > BYTES_MAX) throw apiError('TooBigSequence', `${bytes.length} bytes`);
  },
  derived: ({ fields }, chain) => ({
    author: chain.addressToText(chain.addressOf(fields.authorPublicKey)),
  }),
  derivedSchema: { author: { type: 'string', description: 'address' } },
  /** An author other than the sender needs the consent of the sender's script (H-13). */
  apply({ fields, sender }, ledger) {
    if (!equal(fields.authorPublicKey, fields.senderPublicKey)) {
      throw refused('The author of the data must be its sender, since that has no script');
    }
    for (const { key, ...value } of fields.data) putData(ledger, sender, key, value);
  },
  payer: ({ fields }, chain) => chain.addressOf(fields.authorPublicKey),
  involved: ({ fields }, ledger) => [ledger.chain.addressOf(fields.authorPublicKey)],
});
