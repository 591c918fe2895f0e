/** Status records of contract transactions as JSON (decision 27). */

import { base58 } from '../base/base58.ts';
import type { StatusRecord } from '../contracts/statuses/status-record.ts';
import { Int64 } from '../rest-framework/body.ts';
import { Type } from '../rest-framework/type.ts';
import type { Services } from './services.ts';

export const StatusShape = Type.Object({
  sender: Type.String(),
  senderPublicKey: Type.String(),
  txId: Type.String(),
  status: Type.String(),
  code: Type.Unsafe<string | number | null>({ type: ['string', 'integer', 'null'] }),
  message: Type.String(),
  timestamp: Int64,
  signature: Type.String(),
});

export function statusJson(item: StatusRecord, { scheme, settings }: Services) {
  const code = settings.sdkCompatible ? item.code : item.code?.toString();
  return {
    sender: scheme.addressToText(scheme.addressOf(item.senderPublicKey)),
    senderPublicKey: base58.encode(item.senderPublicKey),
    txId: base58.encode(item.txId),
    status: item.status,
    code: code ?? null,
    message: item.message,
    timestamp: item.timestamp,
    signature: base58.encode(item.signature),
  };
}
