/**
 * Transactions as messages of the service of events: the fields of their declarations, under the
 * names and in the parts that the protocol has. It has none for types 2 and 7.
 */
import type { PlainMessage } from '../base/ports/event-service.ts';
import type { ChainScheme } from '../codec/codec.ts';
import { roleNumber } from '../ledger/roles.ts';
import type { Entry } from '../tx/fields/entries.ts';
import type { ValidationPolicy } from '../tx/fields/extensions.ts';
import { aliasBytes, type Recipient } from '../tx/fields/recipient.ts';
import type { Tx } from '../tx/transaction.ts';
import { payment } from '../tx/types/002-payment.ts';
import { exchange } from '../tx/types/007-exchange.ts';

const UNKNOWN: readonly number[] = [payment.type, exchange.type];

export const hasMessage = ({ type }: Pick<Tx, 'type'>): boolean => !UNKNOWN.includes(type);

/** One member beside the version: the transaction under the name of its type. */
export function txMessage(tx: Tx, scheme: ChainScheme): PlainMessage {
  const name = tx.def.name[0]!.toLowerCase() + tx.def.name.slice(1);
  return { version: tx.version, [name]: fieldsOf(tx, scheme) };
}

function fieldsOf(tx: Tx, scheme: ChainScheme): PlainMessage {
  const fields: Record<string, unknown> = {
    id: tx.id,
    senderPublicKey: tx.senderPublicKey,
    senderAddress: tx.sender,
    fee: tx.fee,
    timestamp: tx.timestamp,
    proofs: tx.proofs,
    // Of the first block, where both are the same.
    signature: tx.id,
  };
  const given = Object.entries(tx.fields as Readonly<Record<string, unknown>>);
  for (const [name, value] of given) {
    if (value === undefined || name in fields) continue;
    const change = CHANGES[name];
    if (change === undefined) fields[name] = value;
    else Object.assign(fields, change(value as never, tx, scheme));
  }
  return { ...fields, ...tx.def.derived?.(tx, scheme), ...permissionOf(fields) };
}

type Change = (value: never, tx: Tx, scheme: ChainScheme) => PlainMessage;

const CHANGES: Readonly<Record<string, Change>> = {
  recipient: (value, tx, scheme) => ({ recipient: recipientBytes(value, tx, scheme) }),
  target: (value, tx, scheme) => ({ target: recipientBytes(value, tx, scheme) }),
  targetPubKey: (value) => ({ target: value }),
  alias: (value, _tx, scheme) => ({ alias: aliasBytes(value, scheme) }),
  opType: (value: 'add' | 'remove') => ({ opType: value === 'add' ? 1 : 2 }),
  role: (value: string) => ({ role: { id: roleNumber(value) } }),
  data: (value) => ({ data: entries(value) }),
  params: (value) => ({ params: entries(value) }),
  results: (value) => ({ results: entries(value) }),
  transfers: (value: readonly Transfer[], tx, scheme) => ({
    transfers: value.map(({ recipient, amount }) => {
      return { recipient: recipientBytes(recipient, tx, scheme), amount };
    }),
  }),
  tx: (value: Tx, _tx, scheme) => ({ tx: txMessage(value, scheme) }),
  transactions: (value: readonly Tx[], _tx, scheme) => ({
    transactions: value.map((member) => txMessage(member, scheme)),
  }),
  miner: (value: { readonly publicKey: Uint8Array }) => ({ miner: value.publicKey }),
  validationPolicy: (value: ValidationPolicy) => ({ validationPolicy: policyOf(value) }),
  apiVersion: (value: string) => {
    const [majorVersion, minorVersion] = value.split('.').map(Number);
    return { apiVersion: { majorVersion, minorVersion } };
  },
};

interface Transfer {
  readonly recipient: Recipient | Uint8Array;
  readonly amount: bigint;
}

/** The bytes of an address, or those of an alias. */
function recipientBytes(value: Recipient | Uint8Array, _tx: Tx, scheme: ChainScheme): Uint8Array {
  if (value instanceof Uint8Array) return value;
  return value.kind === 'address' ? value.bytes : aliasBytes(value.name, scheme);
}

const entries = (list: readonly Entry[]): readonly PlainMessage[] =>
  list.map(({ key, type, value }) => ({ key, [MEMBERS[type]]: value }));

const MEMBERS = {
  integer: 'intValue',
  boolean: 'boolValue',
  binary: 'binaryValue',
  string: 'stringValue',
} as const;

function policyOf(policy: ValidationPolicy): PlainMessage {
  if (policy.type !== 'majority_with_one_of') return { [policy.type]: {} };
  return { majorityWithOneOf: { addresses: policy.addresses } };
}

/** Of type 102, where the protocol has them together. */
const permissionOf = ({ opType, role, timestamp, dueTimestamp }: PlainMessage): PlainMessage =>
  role === undefined || opType === undefined
    ? {}
    : { permissionOp: { opType, role, timestamp, dueTimestamp } };
