/** JSON-only shapes that several resources share, and their schemas (transactions.md#json). */

import Type, { type Static } from 'typebox';
import { base58 } from '../base/base58.ts';
import { integer } from '../base/json.ts';
import { base64 } from '../codec/text.ts';
import type { Entry } from '../tx/fields/entries.ts';
import { txToJson } from '../tx/json/encode.ts';
import { lease } from '../tx/types/008-lease.ts';
import { leaseCancel } from '../tx/types/009-lease-cancel.ts';
import { Int32, Int64, list } from './body.ts';
import { limits } from './limits.ts';
import type { ConfirmedTx, ScriptView } from './reads.ts';
import type { Services } from './services.ts';

/** The JSON of a transaction; its schema is made from the transaction types. */
export const Transaction = Type.Unsafe<Record<string, unknown>>({
  $ref: '#/components/schemas/Transaction',
});

export const EntryShape = Type.Object({
  key: Type.String(),
  type: Type.Union([
    Type.Literal('integer'),
    Type.Literal('boolean'),
    Type.Literal('binary'),
    Type.Literal('string'),
  ]),
  value: Type.Unknown(),
});
type EntryJson = Static<typeof EntryShape>;

export const AddressList = Type.Object({ addresses: list(Type.String(), limits.addresses) });

export const Balance = Type.Object({
  address: Type.String(),
  confirmations: Int32,
  balance: Int64,
});

export function entryJson(entry: Entry): EntryJson {
  return { key: entry.key, type: entry.type, value: entryValue(entry) };
}

function entryValue(entry: Entry): unknown {
  if (entry.type === 'integer') return integer(entry.value);
  return entry.type === 'binary' ? base64.encode(entry.value) : entry.value;
}

export function scriptJson(script: ScriptView): Record<string, unknown> {
  return {
    script: base64.encode(script.script),
    scriptText: script.text,
    complexity: script.complexity,
    extraFee: integer(script.extraFee),
  };
}

/** A transaction of the chain; `height` last, as clients of the reference show it. */
export function confirmedJson(
  { tx, height }: ConfirmedTx,
  { scheme }: Pick<Services, 'scheme'>,
): Record<string, unknown> {
  const json = txToJson(tx, scheme);
  json['height'] = height;
  return json;
}

/** The same with `status` of a lease and the `lease` of a cancellation. */
export function extendedJson(
  confirmed: ConfirmedTx,
  services: Pick<Services, 'scheme' | 'leases' | 'chain'>,
): Record<string, unknown> {
  const json = confirmedJson(confirmed, services);
  const { tx } = confirmed;
  if (tx.type === lease.type) {
    json['status'] = services.leases.isActive(tx.id) ? 'active' : 'canceled';
  } else if (tx.type === leaseCancel.type) {
    const id = base58.decode(String(json['leaseId']));
    const leased = services.chain.transaction(id);
    json['lease'] = leased === undefined ? null : confirmedJson(leased, services);
  }
  return json;
}
