/** `platform-node tx encode|decode|verify`, which need no node. */
import { Base58Error, base58 } from '../../../base/base58.ts';
import { apiError } from '../../../base/errors.ts';
import { encodeHex } from '../../../base/hex.ts';
import { isObject } from '../../../base/json/json.ts';
import { txFromJson, txToJson } from '../../../tx/json/encode.ts';
import { EXECUTED_TX_BYTES_MAX } from '../../../tx/size.ts';
import type { Tx } from '../../../tx/transaction.ts';
import { decodeTx, signedBytes } from '../../../tx/tx-bytes.ts';
import { type Cryptography, cryptographyOf } from '../../cryptography.ts';
import {
  convertAll,
  documentsOf,
  fieldOf,
  jsonDocuments,
  parseJson,
} from '../../terminal/documents.ts';
import { CliError, EXIT } from '../../terminal/exit.ts';
import { readAll, readLines, withoutMark } from '../../terminal/lines.ts';

interface Flags {
  chainId: string;
  ndjson?: true;
  nationalCrypto?: true;
}

const BASE58_TEXT_MAX = Math.ceil(EXECUTED_TX_BYTES_MAX * 1.3658) + 1;

export async function convert(
  verb: 'encode' | 'decode' | 'verify',
  source: string,
  flags: Flags,
): Promise<void> {
  const network = cryptographyOf(flags.nationalCrypto !== true, flags.chainId);
  const { scheme } = network;
  switch (verb) {
    case 'encode':
      return convertAll(jsonDocuments(source, flags.ndjson === true), (json) =>
        encoded(txFromJson(json, scheme)),
      );
    case 'decode':
      return convertAll(textLines(source), (line) =>
        txToJson(decodeTx(bytesFrom(fieldOf(line as string, 'bytes')), scheme), scheme),
      );
    case 'verify':
      return convertAll(mixedDocuments(source, flags.ndjson === true), (document) =>
        verified(document, network),
      );
  }
}

const encoded = (tx: Tx): Record<string, unknown> => ({
  id: base58.encode(tx.id),
  body: encodeHex(tx.body),
  bytes: encodeHex(tx.bytes),
});

/** Read as hexadecimal where possible, else as Base58. */
function bytesFrom(text: string): Uint8Array {
  const trimmed = text.trim().replace(/^0x/, '');
  if (/^(?:[0-9a-fA-F]{2})+$/.test(trimmed)) return Uint8Array.from(Buffer.from(trimmed, 'hex'));
  try {
    return base58.decode(trimmed, BASE58_TEXT_MAX);
  } catch (cause) {
    if (cause instanceof Base58Error) throw apiError('Invalid', cause.message);
    throw cause;
  }
}

async function* textLines(source: string): AsyncGenerator<() => string> {
  for await (const line of readLines(source)) yield () => line.trim();
}

/** JSON as for encode, or lines of bytes. */
async function* mixedDocuments(source: string, ndjson: boolean): AsyncGenerator<() => unknown> {
  if (!ndjson) {
    const text = withoutMark(await readAll(source));
    // Nothing is not valid: the command before this one in a pipe has failed.
    if (text.trim() === '') throw new CliError('The input is empty');
    if (/^\s*[[{]/.test(text)) yield* documentsOf(text);
    else for (const line of text.split('\n')) if (line.trim() !== '') yield () => line.trim();
    return;
  }
  for await (const line of readLines(source)) {
    yield () => (line.trimStart().startsWith('{') ? parseJson(line) : line.trim());
  }
}

function verified(document: unknown, { family, scheme }: Cryptography): Record<string, unknown> {
  const isJson = isObject(document) && document['bytes'] === undefined;
  const tx = isJson
    ? txFromJson(document, scheme)
    : decodeTx(
        bytesFrom(isObject(document) ? String(document['bytes']) : String(document)),
        scheme,
      );
  const valid = isValid(tx, family.verify);
  if (!valid) process.exitCode = EXIT.failure;
  return { ...(isJson ? encoded(tx) : txToJson(tx, scheme)), valid };
}

/**
 * Expects one proof, by the sender or by the author of data that differs from it. Genesis types carry none, because their signature is computed.
 */
function isValid(tx: Tx, verify: Cryptography['family']['verify']): boolean {
  if (tx.layout.frame === 'genesis') return true;
  const [proof, ...more] = tx.proofs;
  if (proof === undefined || more.length > 0) return false;
  const cosigner = tx.def.cosigner?.(tx);
  const keys = [tx.senderPublicKey, ...(cosigner === undefined ? [] : [cosigner])];
  return keys.some((key) => verify(key, signedBytes(tx), proof));
}
