/**
 * The shapes of answers, exact to the order and the types of their members
 * (data-service.md#shapes): `count` and the `type` of an entry are texts, everything else countable
 * is an integer.
 */

import { integer, isObject, parse } from '../../base/json/json.ts';
import { Int32, Int64 } from '../../rest-framework/body.ts';
import { Type } from '../../rest-framework/type.ts';
import { AS_COLUMN } from '../crawler/rows/rows.ts';
import { FINAL_HEIGHT_SQL } from '../schema/tables.ts';

const summary = {
  id: Type.String(),
  type: Int32,
  height: Int32,
  fee: Int64,
  sender: Type.String(),
  senderPublicKey: Type.String(),
  signature: Type.String(),
  timestamp: Int64,
  version: Int32,
  final: Type.Optional(Type.Boolean()),
};

/** With `extended=true` all fields of the transaction and its `index` follow. */
export const Summary = Type.Object(summary);

export const AssetIssue = Type.Object({
  ...summary,
  assetId: Type.String(),
  name: Type.String(),
  description: Type.String(),
  quantity: Int64,
  decimals: Int32,
  reissuable: Type.Boolean(),
  currentQuantity: Type.Optional(Int64),
  currentReissuable: Type.Optional(Type.Boolean()),
});

export const User = Type.Object({
  address: Type.String(),
  aliases: Type.Array(Type.String()),
  registration_date: Type.String({ format: 'date-time' }),
  permissions: Type.Array(Type.String()),
  balances: Type.Array(Type.Object({ assetId: Type.String(), amount: Int64 })),
});

const block = {
  version: Int32,
  timestamp: Int64,
  reference: Type.String(),
  'core-consensus': Type.Object({ 'base-target': Int64, 'generation-signature': Type.String() }),
  features: Type.Array(Int32),
  generator: Type.String(),
  signature: Type.String(),
  blocksize: Int32,
  transactionCount: Int32,
  fee: Int64,
  height: Int32,
  final: Type.Optional(Type.Boolean()),
};

export const BlockSummary = Type.Object(block);
export const Block = Type.Object({ ...block, transactions: Type.Array(Summary) });

export const DataEntry = Type.Object({
  ...summary,
  type: Type.String(),
  key: Type.String(),
  value: Type.String(),
  position_in_tx: Int32,
});

export const Count = Type.Object({ count: Type.String() });

export interface TxRow {
  readonly seq: string;
  readonly id: string;
  readonly type: number;
  readonly version: number;
  readonly height: number;
  readonly ts: string;
  readonly sender: string | null;
  readonly sender_public_key: string | null;
  readonly signature: string | null;
  readonly fee: string;
  readonly body?: string;
  /** Null where nobody votes on blocks. */
  readonly final: boolean | null;
}

export const SUMMARY_COLUMNS =
  't.seq, t.id, t.type, t.version, t.height, t.ts, t.sender, t.sender_public_key, t.signature, t.fee, ' +
  `t.height <= ${FINAL_HEIGHT_SQL} AS final`;
export const EXTENDED_COLUMNS = `${SUMMARY_COLUMNS}, t.body`;

export function summaryOf(row: TxRow) {
  return {
    id: row.id,
    type: row.type,
    height: row.height,
    fee: integer(BigInt(row.fee)),
    sender: row.sender ?? '',
    senderPublicKey: row.sender_public_key ?? '',
    signature: row.signature ?? '',
    timestamp: Number(row.ts),
    version: row.version,
    ...finalOf(row),
  };
}

const finalOf = ({ final }: { readonly final: boolean | null }): { final?: boolean } =>
  final === null ? {} : { final };

/** The summary, or with a body every field that the node gave. */
export function transactionOf(row: TxRow): Record<string, unknown> {
  if (row.body === undefined) return summaryOf(row);
  const body = parse(row.body);
  const fields = isObject(body) ? { ...body } : {};
  if (fields['signature'] === AS_COLUMN) fields['signature'] = row.signature;
  if (fields['proofs'] === AS_COLUMN) fields['proofs'] = [row.signature];
  return { ...summaryOf(row), ...fields, index: Number(row.seq) };
}

export interface BlockRow {
  readonly height: number;
  readonly signature: string;
  readonly reference: string;
  readonly version: number;
  readonly ts: string;
  readonly generator: string;
  readonly base_target: string | null;
  readonly generation_signature: string | null;
  readonly features: number[];
  readonly blocksize: number;
  readonly fee: string;
  readonly tx_count: number;
  readonly first_seq: string;
  readonly final: boolean | null;
}

export const BLOCK_COLUMNS =
  'height, signature, reference, version, ts, generator, base_target, generation_signature, ' +
  `features, blocksize, fee, tx_count, first_seq, height <= ${FINAL_HEIGHT_SQL} AS final`;

export function blockOf(row: BlockRow) {
  return {
    version: row.version,
    timestamp: Number(row.ts),
    reference: row.reference,
    'core-consensus': {
      'base-target': integer(BigInt(row.base_target ?? 0)),
      'generation-signature': row.generation_signature ?? '',
    },
    features: row.features,
    generator: row.generator,
    signature: row.signature,
    blocksize: row.blocksize,
    transactionCount: row.tx_count,
    fee: integer(BigInt(row.fee)),
    height: row.height,
    ...finalOf(row),
  };
}

export interface EntryRow extends TxRow {
  readonly key: string;
  readonly value: string;
  readonly position_in_tx: number;
}

export const entryOf = (row: EntryRow) => ({
  ...summaryOf(row),
  type: String(row.type),
  key: row.key,
  value: row.value,
  position_in_tx: row.position_in_tx,
});
