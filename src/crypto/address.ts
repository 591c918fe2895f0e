/**
 * Addresses: version ‖ chain ‖ hash of the public key (20) ‖ checksum (4), accounts.md.
 *
 * Deriving and checking take two or more secure hashes, so each direction has a cache. Callers
 * share the cached bytes and must not write into an address.
 */

import { base58 } from '../base/base58.ts';
import { equal, latin1 } from '../base/bytes.ts';
import { apiError } from '../base/errors.ts';
import { ADDRESS_BYTES } from '../base/sizes.ts';
import type { AccountTexts } from '../codec/codec.ts';
import { BoundedCache } from '../concurrency/bounded-cache.ts';
import type { CryptoFamily } from './family.ts';

const ADDRESS_VERSION = 1;
/** Characters; the text of 26 bytes never has more. */
const ADDRESS_TEXT_LENGTH_MAX = 36;

const PREFIX = 'address:';
const HASH_END = 22;
/** Per direction and generation; about 10 MB when all are full. */
const CACHED_ADDRESSES = 16_384;

export interface Addresses {
  /** The address of the owner of a public key. */
  ofPublicKey(publicKey: Uint8Array): Uint8Array;
  /** The texts of a public key and of its address. */
  textsOf(publicKey: Uint8Array): AccountTexts;
  toText(address: Uint8Array): string;
  /** With or without the prefix `address:`. Throws ApiError InvalidAddress, rest.md#parameters. */
  fromText(text: string): Uint8Array;
  /** Why bytes are no address of this network, or undefined. */
  problem(bytes: Uint8Array): string | undefined;
}

type HashFamily = Pick<CryptoFamily, 'secureHash'>;

interface CachedAddress {
  readonly bytes: Uint8Array;
  readonly text: string;
  /** Made when they are first asked for. */
  texts?: AccountTexts;
}

export function createAddresses(
  family: HashFamily,
  chainId: number,
  cached = CACHED_ADDRESSES,
): Addresses {
  const byKey = new BoundedCache<string, CachedAddress>(cached);
  const byText = new BoundedCache<string, CachedAddress>(cached);
  const texts = new BoundedCache<string, string>(cached);
  const problem = createProblem(family, chainId, cached);

  return {
    ofPublicKey: (publicKey) => derive(publicKey).bytes,
    textsOf(publicKey) {
      const known = derive(publicKey);
      known.texts ??= { publicKey: base58.encode(publicKey), address: known.text };
      return known.texts;
    },

    toText(address) {
      const key = latin1(address);
      const known = texts.get(key);
      if (known !== undefined) return known;
      const text = base58.encode(address);
      texts.set(key, text);
      return text;
    },

    fromText(text) {
      const known = parse(text);
      if (typeof known === 'string') throw apiError('InvalidAddress', known);
      return known.bytes;
    },

    problem,
  };

  function derive(publicKey: Uint8Array): CachedAddress {
    const key = latin1(publicKey);
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const bytes = addressOf(family, chainId, publicKey);
    const derived: CachedAddress = { bytes, text: base58.encode(bytes) };
    byKey.set(key, derived);
    byText.set(derived.text, derived);
    return derived;
  }

  /** The address, or the reason why the text is not an address. */
  function parse(input: string): CachedAddress | string {
    const text = input.startsWith(PREFIX) ? input.slice(PREFIX.length) : input;
    const known = byText.get(text);
    if (known !== undefined) return known;
    const bytes = bytesOf(text);
    if (typeof bytes === 'string') return bytes;
    const reason = problem(bytes);
    if (reason !== undefined) return reason;
    const parsed = { bytes, text };
    byText.set(text, parsed);
    return parsed;
  }
}

/** Why bytes are no address, or undefined. */
function createProblem(family: HashFamily, chainId: number, cached: number): Addresses['problem'] {
  const sound = new BoundedCache<string, true>(cached);
  return (bytes) => {
    const wrong = wrongForm(bytes, chainId);
    if (wrong !== undefined) return wrong;
    const key = latin1(bytes);
    if (sound.get(key)) return undefined;
    if (!equal(checksumOf(family, bytes), bytes.subarray(HASH_END))) return 'Bad address checksum';
    sound.set(key, true);
    return undefined;
  };
}

function addressOf(family: HashFamily, chainId: number, publicKey: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(ADDRESS_BYTES);
  bytes[0] = ADDRESS_VERSION;
  bytes[1] = chainId;
  bytes.set(family.secureHash(publicKey).subarray(0, HASH_END - 2), 2);
  bytes.set(checksumOf(family, bytes), HASH_END);
  return bytes;
}

const checksumOf = (family: HashFamily, bytes: Uint8Array): Uint8Array =>
  family.secureHash(bytes.subarray(0, HASH_END)).subarray(0, ADDRESS_BYTES - HASH_END);

/** The bytes, or the reason why there are none. */
function bytesOf(text: string): Uint8Array | string {
  if (text.length > ADDRESS_TEXT_LENGTH_MAX) {
    return `Wrong address string length: max=${ADDRESS_TEXT_LENGTH_MAX}, actual: ${text.length}`;
  }
  try {
    return base58.decode(text);
  } catch (error) {
    return `Unable to decode base58: ${(error as Error).message}`;
  }
}

/** What is wrong with an address apart from its checksum. */
function wrongForm(bytes: Uint8Array, chainId: number): string | undefined {
  const [version, chain] = bytes;
  if (version !== undefined && version !== ADDRESS_VERSION) {
    return `Unknown address version: ${version}`;
  }
  if (chain !== undefined && chain !== chainId) {
    return `Data from other network: expected: ${named(chainId)}, actual: ${named(chain)}`;
  }
  if (bytes.length !== ADDRESS_BYTES) {
    return `Wrong addressBytes length: expected: ${ADDRESS_BYTES}, actual: ${bytes.length}`;
  }
  return undefined;
}

const named = (chain: number): string => `${chain}(${String.fromCharCode(chain)})`;
