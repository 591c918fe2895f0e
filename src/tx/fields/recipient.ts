/**
 * The recipient of a transaction: an address or an alias (accounts.md).
 *
 *   address   01 | chainId 1 | hash 20 | checksum 4          26 bytes
 *   alias     02 | chainId 1 | length 2 | name 4–30          `alias:T:name` as text
 */

import { apiError } from '../../base/errors.ts';
import {
  type ChainScheme,
  type Codec,
  CodecError,
  type Reader,
  type Writer,
} from '../../codec/codec.ts';
import { mismatch } from '../../codec/primitives.ts';
import { shown } from '../../codec/text.ts';
import { address, addressFromText } from './shared.ts';

export interface AddressRecipient {
  readonly kind: 'address';
  readonly bytes: Uint8Array;
}
export interface AliasRecipient {
  readonly kind: 'alias';
  readonly name: string;
}
export type Recipient = AddressRecipient | AliasRecipient;

const ALIAS_VERSION = 2;
const NAME_CHARS_MIN = 4;
const NAME_CHARS_MAX = 30;
const NAME = /^[-.0-9@_a-z]*$/;
const PREFIX = 'alias:';

/** Why this text is no alias name, or undefined. */
export function aliasProblem(name: string): string | undefined {
  if (name.length < NAME_CHARS_MIN || name.length > NAME_CHARS_MAX) {
    return `Alias '${shown(name)}' length should be between ${NAME_CHARS_MIN} and ${NAME_CHARS_MAX}`;
  }
  if (!NAME.test(name)) {
    const allowed = '-.0123456789@_abcdefghijklmnopqrstuvwxyz';
    return `Alias should contain only following characters: ${allowed}`;
  }
  return undefined;
}

function aliasName(name: string, path: string): string {
  const problem = aliasProblem(name);
  if (problem !== undefined) throw new CodecError(path, problem, apiError('Invalid', problem));
  return name;
}

/** Throws CodecError unless `text` is `alias:<this network>:<name>`. */
export function aliasFromText(text: string, path: string, scheme: ChainScheme): string {
  const bare = text.slice(PREFIX.length);
  if (!text.startsWith(PREFIX) || bare[1] !== ':') {
    const reason = `Alias string pattern is 'alias:<chain-id>:<address-alias>`;
    throw new CodecError(path, reason, apiError('Invalid', reason));
  }
  if (bare.charCodeAt(0) !== scheme.chainId) throw otherNetwork(path);
  return aliasName(bare.slice(2), path);
}

export function aliasToText(name: string, scheme: ChainScheme): string {
  return `${PREFIX}${String.fromCharCode(scheme.chainId)}:${name}`;
}

function otherNetwork(path: string): CodecError {
  const reason = `Alias network char doesn't match current scheme`;
  return new CodecError(path, reason, apiError('Invalid', reason));
}

function writeAlias(out: Writer, name: string): void {
  out.u8(ALIAS_VERSION);
  out.u8(out.scheme.chainId);
  out.u16(name.length);
  out.bytes(Buffer.from(name, 'latin1'));
}

/** The bytes after the version byte of an alias. */
function readAliasTail(src: Reader): string {
  if (src.u8() !== src.scheme.chainId) throw otherNetwork('bytes');
  const raw = src.bytes(src.u16());
  if (raw.length > NAME_CHARS_MAX) return aliasName('?'.repeat(raw.length), 'bytes');
  return aliasName(String.fromCharCode(...raw), 'bytes');
}

/** The bytes that identify an alias: the id of type 10 is their hash. */
export function aliasBytes(name: string, scheme: ChainScheme): Uint8Array {
  const out = new Uint8Array(4 + name.length);
  out.set([ALIAS_VERSION, scheme.chainId, 0, name.length]);
  out.set(Buffer.from(name, 'latin1'), 4);
  return out;
}

/** L2 around the alias bytes; the bare name in JSON: type 10. */
export const alias: Codec<string> = {
  write(out, name) {
    out.u16(name.length + 4);
    writeAlias(out, name);
  },
  read(src) {
    const size = src.u16();
    const start = src.position;
    if (src.u8() !== ALIAS_VERSION) throw new CodecError('bytes', 'not an alias');
    const name = readAliasTail(src);
    if (src.position - start !== size) throw new CodecError('bytes', 'length of alias is wrong');
    return name;
  },
  toJson: (name) => name,
  fromJson(json, path) {
    if (typeof json !== 'string') throw mismatch(path, json, 'jsstring');
    return aliasName(json, path);
  },
  schema: { type: 'string', minLength: 4, maxLength: 30, pattern: NAME.source },
};

/** An address or an alias. The first byte, or the prefix of the text, distinguishes them. */
export const recipient: Codec<Recipient> = {
  write(out, value) {
    if (value.kind === 'address') out.bytes(value.bytes);
    else writeAlias(out, value.name);
  },
  read(src) {
    const version = src.input[src.position];
    if (src.remaining > 0 && version === ALIAS_VERSION) {
      src.u8();
      return { kind: 'alias', name: readAliasTail(src) };
    }
    return { kind: 'address', bytes: address.read(src) };
  },
  toJson: (value, scheme) =>
    value.kind === 'address' ? scheme.addressToText(value.bytes) : aliasToText(value.name, scheme),
  print(src) {
    if (src.input[src.position] !== ALIAS_VERSION) return address.print!(src);
    src.u8();
    return JSON.stringify(aliasToText(readAliasTail(src), src.scheme));
  },
  fromJson(json, path, scheme) {
    if (typeof json !== 'string') throw mismatch(path, json, 'jsstring');
    if (json.startsWith(PREFIX)) return { kind: 'alias', name: aliasFromText(json, path, scheme) };
    return { kind: 'address', bytes: addressFromText(json, path, scheme) };
  },
  schema: { type: 'string', description: 'address or alias:<network>:<name>' },
};
