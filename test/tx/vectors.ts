/** Transactions from outside: from client libraries and an independent serializer. */
import { readFileSync } from 'node:fs';

export interface Vector {
  readonly name: string;
  readonly library: string;
  readonly type: number;
  readonly version: number;
  readonly json: Readonly<Record<string, unknown>>;
  readonly bodyBytesHex: string;
  readonly nodeId?: string;
  readonly sender?: string;
  readonly fullBytesHex?: string;
  readonly accept: boolean;
}

const file = new URL('../vectors/transactions.json', import.meta.url);

export const vectors = (JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[] }).vectors;
export const accepted = vectors.filter((vector) => vector.accept);

export const fromHex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));
export const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
export const fullBytes = (vector: Vector): Uint8Array => fromHex(vector.fullBytesHex!);
export const title = (vector: Vector): string => `${vector.name} of ${vector.library}`;
