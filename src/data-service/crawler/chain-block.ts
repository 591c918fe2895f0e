/** A block as a node gives it, checked as far as the crawler relies on it. */
import { isBase58 } from '../../base/base58.ts';
import { isObject, type JsonObject } from '../../base/json/json.ts';
import { int64, objects, storableJson, text } from './storable.ts';

export interface ChainBlock {
  readonly height: number;
  readonly signature: string;
  readonly reference: string;
  readonly version: number;
  readonly timestamp: number;
  readonly generator: string;
  readonly baseTarget: bigint | undefined;
  readonly generationSignature: string | undefined;
  /** The sections about its consensus, as the node names them. */
  readonly consensus: JsonObject;
  readonly features: readonly number[];
  readonly blocksize: number;
  readonly fee: bigint;
  readonly transactions: readonly JsonObject[];
  /** More transactions, of a block that no answer holds; read as they are taken, and once. */
  readonly further?: AsyncIterable<readonly JsonObject[]>;
  /** True where no text in it has a character that the store cannot hold. */
  readonly isStorable: boolean;
}

/** The node gave something that is no block. */
export class NotABlock extends Error {
  override name = 'NotABlock';
}

/** `isStorable`: known from the text of the answer. */
export function readBlock(json: unknown, isStorable = false): ChainBlock {
  const block = isObject(json) ? json : {};
  const height = Number(block['height']);
  const signature = signatureOf(block['signature']);
  const reference = signatureOf(block['reference']);
  const timestamp = Number(block['timestamp']);
  if (!isHeight(height) || signature === undefined || reference === undefined) {
    throw new NotABlock(`the node gave no block but ${JSON.stringify(json)?.slice(0, 200)}`);
  }
  const version = Number(block['version'] ?? 1);
  const blocksize = Number(block['blocksize'] ?? 0);
  const core = isObject(block['coreconsensus']) ? block['coreconsensus'] : {};
  const sections = Object.entries(block).filter(([name]) => name.endsWith('-consensus'));
  const consensus = storableJson(Object.fromEntries(sections)) as JsonObject;
  const features = Array.isArray(block['features']) ? block['features'].map(Number) : [];
  const transactions = objects(block['transactions']);
  const isStored =
    [version, ...features].every(isInt16) &&
    isInt32(blocksize) &&
    hasTurns(consensus['poa-consensus']) &&
    transactions.every(hasColumns);
  if (!isStored) throw new NotABlock(`block ${height} of the node has a number out of range`);
  return {
    height,
    signature,
    reference,
    version,
    timestamp: Number.isSafeInteger(timestamp) ? timestamp : 0,
    generator: text(block['generator']) ?? '',
    baseTarget: int64(core['basetarget']),
    generationSignature: text(core['generationsignature']),
    consensus,
    features,
    blocksize,
    fee: int64(block['fee']) ?? 0n,
    transactions,
    isStorable,
  };
}

/** 64 bytes have 88 characters. */
const SIGNATURE_CHARS_MAX = 128;

/** It goes into headers of answers, so nothing but Base58 may pass for one. */
const signatureOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= SIGNATURE_CHARS_MAX && isBase58(value)
    ? value
    : undefined;

const isInt16 = (value: number): boolean =>
  Number.isInteger(value) && (value << 16) >> 16 === value;
const isInt32 = (value: number): boolean => (value | 0) === value;
const isHeight = (height: number): boolean => isInt32(height) && height >= 1;

/** What the columns of a transaction need of it. */
export const hasColumns = ({ type, version, decimals }: JsonObject): boolean =>
  isInt16(Number(type)) && isInt16(Number(version ?? 1)) && isInt16(Number(decimals ?? 0));

/** What the turns of miners are derived from is there in its form, or not at all. */
function hasTurns(section: unknown): boolean {
  if (section === undefined) return true;
  if (!isObject(section)) return false;
  const { 'overall-skipped-rounds': skipped = 0, 'lost-turns': lost = [] } = section;
  return (
    Number.isSafeInteger(skipped) &&
    Array.isArray(lost) &&
    lost.every((turn) => isObject(turn) && typeof turn['generator'] === 'string')
  );
}

/** True where each block continues the one before it. */
export function areLinked(blocks: readonly ChainBlock[]): boolean {
  return blocks.every(({ height, reference }, i) => {
    const before = blocks[i - 1];
    return before === undefined || (height === before.height + 1 && reference === before.signature);
  });
}
