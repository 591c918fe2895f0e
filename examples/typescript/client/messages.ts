/** The messages of the node's gRPC interface for contracts that this client uses. */
import type { Shape } from './protobuf.ts';

const dataEntry = {
  key: { number: 1, kind: 'string' },
  integer: { number: 10, kind: 'int64' },
  boolean: { number: 11, kind: 'bool' },
  binary: { number: 12, kind: 'bytes' },
  string: { number: 13, kind: 'string' },
} as const satisfies Shape;

const transaction = {
  id: { number: 1, kind: 'string' },
  type: { number: 2, kind: 'int32' },
  sender: { number: 3, kind: 'string' },
  senderPublicKey: { number: 4, kind: 'string' },
  contractId: { number: 5, kind: 'string' },
  params: { number: 6, kind: dataEntry, repeated: true },
  fee: { number: 7, kind: 'int64' },
  timestamp: { number: 10, kind: 'int64' },
} as const satisfies Shape;

const block = {
  height: { number: 1, kind: 'int64' },
  timestamp: { number: 2, kind: 'int64' },
  minerAddress: { number: 3, kind: 'string' },
  reference: { number: 4, kind: 'string' },
} as const satisfies Shape;

export const connectionRequest = {
  connectionId: { number: 1, kind: 'string' },
} as const satisfies Shape;

export const transactionResponse = {
  transaction: { number: 1, kind: transaction },
  authToken: { number: 2, kind: 'string' },
  block: { number: 3, kind: block },
} as const satisfies Shape;

export const successRequest = {
  txId: { number: 1, kind: 'string' },
  results: { number: 2, kind: dataEntry, repeated: true },
} as const satisfies Shape;

export const errorRequest = {
  txId: { number: 1, kind: 'string' },
  message: { number: 2, kind: 'string' },
  code: { number: 3, kind: 'int32' },
} as const satisfies Shape;

export const keyRequest = {
  contractId: { number: 1, kind: 'string' },
  key: { number: 2, kind: 'string' },
} as const satisfies Shape;

export const keyResponse = { entry: { number: 1, kind: dataEntry } } as const satisfies Shape;

const wrappedInteger = { value: { number: 1, kind: 'int32' } } as const satisfies Shape;
const wrappedText = { value: { number: 1, kind: 'string' } } as const satisfies Shape;

export const keysRequest = {
  contractId: { number: 1, kind: 'string' },
  limit: { number: 2, kind: wrappedInteger },
  offset: { number: 3, kind: wrappedInteger },
  matches: { number: 4, kind: wrappedText },
} as const satisfies Shape;

export const keysResponse = {
  entries: { number: 1, kind: dataEntry, repeated: true },
} as const satisfies Shape;
