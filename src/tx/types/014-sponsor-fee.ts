/**
 * Lets an asset pay fees, or ends that (transactions.md#two-layouts-of-type-14).
 *
 *   v1 ratio   type 1 | version 1 | senderPublicKey 32 | assetId 32 | minSponsoredAssetFee 8
 *              | fee 8 | timestamp 8
 *   v1 switch  type 1 | version 1 | senderPublicKey 32 | assetId 32 | isEnabled 1 | fee 8
 *              | timestamp 8
 *   v2         switch, badge at the end
 *
 * Two generations of clients sign different bytes under one type and version. Received bytes must
 * fit exactly one of the two layouts. A request with both fields may mean either.
 */
import { apiError, refused } from '../../base/errors.ts';
import { integer, type JsonObject } from '../../base/json/json.ts';
import type { Codec } from '../../codec/codec.ts';
import { bool, i64 } from '../../codec/primitives.ts';
import { nullable, since } from '../../codec/struct.ts';
import { base58 } from '../../codec/text.ts';
import { assets } from '../../ledger/tables.ts';
import { atomicBadge } from '../fields/extensions.ts';
import { assetId, fee, senderPublicKey, timestamp } from '../fields/shared.ts';
import { ownAsset } from '../rules/asset-rules.ts';
import { feature } from '../rules/features.ts';
import { SPONSORED_UNIT } from '../rules/fees.ts';
import { type Layout, type Tx, transaction } from '../transaction.ts';

/** The ratio that `isEnabled` sets: one unit of the asset is worth one native unit. */
const RATIO_OF_ENABLED = SPONSORED_UNIT;

const SWITCH = 'switch';

/** Null, 0 or an absent member ends sponsorship; in the bytes it is 0. */
const ratio: Codec<bigint> = {
  ...i64,
  optional: true,
  toJson: (value) => (value === 0n ? null : integer(value)),
  print: undefined,
  fromJson: (json, path, scheme) =>
    json === undefined || json === null ? 0n : i64.fromJson(json, path, scheme),
  schema: nullable({ ...i64.schema, minimum: 0 }),
};

const byRatio = ['senderPublicKey', 'assetId', 'minSponsoredAssetFee', 'fee', 'timestamp'];
const bySwitch = ['senderPublicKey', 'assetId', 'isEnabled', 'fee', 'timestamp'];

const fields = {
  senderPublicKey,
  assetId,
  minSponsoredAssetFee: since(ratio),
  isEnabled: since(bool),
  fee,
  timestamp,
  atomicBadge,
};

export const sponsorFee = transaction({
  type: 14,
  name: 'SponsorFeeTransaction',
  key: 'sponsor-fee',
  doc: 'Lets an asset pay fees.',
  fields,
  layouts: [
    { version: 1, frame: 'proven', fields: byRatio, variant: 'ratio' },
    { version: 1, frame: 'proven', fields: bySwitch, variant: SWITCH },
    {
      version: 2,
      frame: 'proven',
      fields: [...bySwitch, 'atomicBadge'],
      variant: SWITCH,
      feature: feature.atomic,
    },
  ],
  fee: 100_000_000n,
  candidates,
  /** A request with a ratio may also mean the switch, so `isEnabled` follows from it. */
  normalize: (json) =>
    json['isEnabled'] === undefined && Number(json['version']) === 2
      ? { ...json, isEnabled: isOn(json['minSponsoredAssetFee']) }
      : json,
  check(tx) {
    const { minSponsoredAssetFee: value = 0n } = tx.fields;
    if (value < 0n) throw apiError('NegativeMinFee', base58.encode(tx.fields.assetId));
  },
  derived(tx) {
    const value = sponsorshipRatio(tx);
    return {
      minSponsoredAssetFee: value === undefined ? null : integer(value),
      isEnabled: value !== undefined,
    };
  },
  derivedSchema: { minSponsoredAssetFee: ratio.schema, isEnabled: bool.schema },
  record: (tx) => ({
    assetId: tx.fields.assetId,
    isEnabled: sponsorshipRatio(tx) !== undefined,
  }),
  apply(tx, ledger) {
    const { assetId: id } = tx.fields;
    const asset = ownAsset(ledger, id, tx.sender);
    if (asset.script !== undefined) {
      throw refused('Cannot enable sponsorship for a smart asset');
    }
    ledger.set(assets, id, { ...asset, sponsorFee: sponsorshipRatio(tx) });
  },
});

/** The ratio that either layout sets; undefined: sponsorship ends. */
export function sponsorshipRatio(tx: Tx<typeof fields>): bigint | undefined {
  if (tx.layout.variant === SWITCH) return tx.fields.isEnabled ? RATIO_OF_ENABLED : undefined;
  const { minSponsoredAssetFee: value } = tx.fields;
  return value === 0n ? undefined : value;
}

const isOn = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== 0 && value !== 0n && value !== '0';

/** The ratio layout comes first, because clients of this protocol version use it. */
function candidates(json: JsonObject, layouts: readonly Layout[]): readonly Layout[] {
  const { isEnabled, minSponsoredAssetFee } = json;
  const hasSwitch = isEnabled !== undefined && isEnabled !== null;
  if (layouts.length === 1) return layouts;
  if (!hasSwitch) return layouts.filter((layout) => layout.variant !== SWITCH);
  if (minSponsoredAssetFee === undefined || typeof isEnabled !== 'boolean') {
    return layouts.filter((layout) => layout.variant === SWITCH);
  }
  if (isEnabled !== isOn(minSponsoredAssetFee)) {
    throw apiError('Invalid', 'isEnabled and minSponsoredAssetFee contradict each other');
  }
  return layouts;
}
