/**
 * The request of a member: its name and public key, signed by the key, for one network. Signed are
 *
 *   u1  255
 *       "member"
 *   b32 SHA-256 of genesis.conf
 *       public key
 *       name in UTF-8
 *
 * and no text, transaction, block or vote begins so. It has no secret.
 */
import { systemRandom } from '../../../adapters/system.ts';
import { Base58Error, base58 } from '../../../base/base58.ts';
import { concat, utf8 } from '../../../base/bytes.ts';
import { encodeHex } from '../../../base/hex.ts';
import { isObject, parse, stringify } from '../../../base/json/json.ts';
import type { KeyPair } from '../../../crypto/family.ts';
import { CliError } from '../../terminal/exit.ts';
import { readAll } from '../../terminal/lines.ts';
import type { GenesisFile } from './genesis-file.ts';
import { NAME } from './organisations.ts';

export interface Request {
  readonly name: string;
  readonly address: string;
  readonly publicKey: string;
}

const VERSION = 1;
const PREFIX = Uint8Array.of(255, ...utf8('member'));
/** A request has some hundred. */
const BYTES_MAX = 16 * 1024;

const message = (digest: Uint8Array, publicKey: Uint8Array, name: string): Uint8Array =>
  concat(PREFIX, digest, publicKey, utf8(name));

/** As the file has it. */
export function requestText(genesis: GenesisFile, name: string, key: KeyPair): string {
  const { digest, cryptography } = genesis;
  const { family, scheme } = cryptography;
  const signed = message(digest, key.publicKey, name);
  const request = {
    request: VERSION,
    network: encodeHex(digest),
    name,
    address: scheme.addressToText(scheme.addressOf(key.publicKey)),
    publicKey: base58.encode(key.publicKey),
    signature: base58.encode(family.sign(key.privateKey, signed, systemRandom)),
  };
  return `${stringify(request, 2)}\n`;
}

/** Rejects with CliError where it is none of this network, or not signed by its key. */
export async function readRequest(source: string, genesis: GenesisFile): Promise<Request> {
  const text = await readAll(source, BYTES_MAX);
  const wrong = (why: string): CliError => new CliError(`${source}: ${why}`);
  const { request, network, name, address, publicKey, signature } = fieldsOf(text, wrong);
  if (request !== VERSION) throw wrong(`no request of version ${VERSION}`);
  if (typeof name !== 'string' || !NAME.test(name))
    throw wrong('its name is none of an organisation');
  if (network !== encodeHex(genesis.digest)) {
    throw wrong(
      `made for another network, or another draft: it has not the ${genesis.path} of here`,
    );
  }
  const { family, scheme } = genesis.cryptography;
  const key = bytesOf(publicKey, family.publicKeySize);
  if (key === undefined || family.isWeakPublicKey(key)) throw wrong('its public key is none');
  const own = scheme.addressToText(scheme.addressOf(key));
  if (address !== own) throw wrong(`its address is not that of its key, ${own}`);
  const proof = bytesOf(signature, family.signatureSize);
  if (proof === undefined || !family.verify(key, message(genesis.digest, key, name), proof)) {
    throw wrong('it is not signed by its key');
  }
  return { name, address: own, publicKey: base58.encode(key) };
}

function fieldsOf(text: string, wrong: (why: string) => CliError): Record<string, unknown> {
  let json: unknown;
  try {
    json = parse(text);
  } catch {
    throw wrong('no JSON');
  }
  if (!isObject(json)) throw wrong('no request');
  return json;
}

function bytesOf(text: unknown, size: number): Uint8Array | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const bytes = base58.decode(text);
    return bytes.length === size ? bytes : undefined;
  } catch (cause) {
    if (cause instanceof Base58Error) return undefined;
    throw cause;
  }
}
