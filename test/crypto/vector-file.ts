/**
 * Typed access to test/vectors/crypto.json, which was made with client libraries of the network.
 */
import { readFileSync } from 'node:fs';

export interface KeyVector {
  readonly seedPhrase: string;
  readonly privateKey: string;
  readonly publicKey: string;
  readonly addresses: Readonly<Record<string, string>>;
}

export interface HashVector {
  readonly inputHex: string;
  readonly fastHashBase58: string;
  readonly secureHashBase58: string;
  readonly fastHashHex: string;
  readonly secureHashHex: string;
}

export interface SignatureVector {
  readonly library: string;
  readonly publicKey: string;
  readonly messageHex: string;
  readonly signature: string;
  readonly signBit: number;
  readonly valid: boolean;
}

export interface SeparateVector {
  readonly mode: 'separate';
  readonly senderPublicKey: string;
  readonly senderPrivateKey: string;
  readonly recipientPublicKey: string;
  readonly recipientPrivateKey: string;
  readonly text: string;
  readonly encryptedTextBase64: string;
  readonly encryptedTextBase58: string;
  readonly wrappedKeyBase58: string;
  readonly sharedSecretHex: string;
}

export interface CommonVector {
  readonly mode: 'common';
  readonly senderPublicKey: string;
  readonly text: string;
  readonly encryptedTextBase64: string;
  readonly recipientToWrappedStructure: Readonly<Record<string, string>>;
  readonly recipientPrivateKeys: Readonly<Record<string, string>>;
}

export interface NationalKeyVector extends KeyVector {
  readonly signatures: readonly {
    readonly messageUtf8: string;
    readonly hashBase58: string;
    readonly signature: string;
    readonly valid: boolean;
  }[];
}

interface VectorFile {
  readonly familyB: { readonly keys: readonly NationalKeyVector[] };
  readonly familyA: {
    readonly keys: readonly KeyVector[];
    readonly hashes: readonly HashVector[];
    readonly signatures: readonly SignatureVector[];
    readonly encryption: readonly (SeparateVector | CommonVector)[];
  };
}

const url = new URL('../vectors/crypto.json', import.meta.url);
export const { familyA, familyB } = JSON.parse(readFileSync(url, 'utf8')) as VectorFile;
