/**
 * What the node asks a key for. The key is in this process and answers at once, or in a signer beside it,
 * which answers later (docs/protocol/signer.md).
 */
import { ApiError } from '../errors.ts';

/** A signer reads each kind by itself, and signs no bytes of another one. */
export const SIGNED_KINDS = [
  'block',
  'turn',
  'vote',
  'transaction',
  'status',
  'identity',
  'text',
] as const;
export type SignedKind = (typeof SIGNED_KINDS)[number];

/** Nobody has signed: that says nothing about the bytes. */
export const isUnsigned = (cause: unknown): boolean =>
  cause instanceof ApiError && (cause.entry === 'SignerAway' || cause.entry === 'SignerRefused');

/** The signer has said so. */
export const isRefused = (cause: unknown): boolean =>
  cause instanceof ApiError && cause.entry === 'SignerRefused';

export type Signature = Uint8Array | Promise<Uint8Array>;

/** Throws or rejects with ApiError where nobody signs. */
export type Sign = (message: Uint8Array) => Signature;

/** A key of this process. */
export type SignNow = (message: Uint8Array) => Uint8Array;

/** At once where the signature is there: what a key of this process signs waits for nothing. */
export function withSignature<T>(signature: Signature, use: (bytes: Uint8Array) => T) {
  return signature instanceof Promise ? signature.then(use) : use(signature);
}

/** Keys that are held outside of this process. */
export interface KeyHolder {
  publicKeyOf(address: Uint8Array): Uint8Array | undefined;
  /** Rejects with ApiError: SignerAway, SignerRefused, or MissingSenderPrivateKey. */
  sign(
    kind: SignedKind,
    address: Uint8Array,
    message: Uint8Array,
    password?: string,
  ): Promise<Uint8Array>;
  /** Why nothing can be signed at present. */
  problem(): string | undefined;
}

/** The account of a node, with what signs one kind of bytes for it. */
export interface SigningAccount {
  readonly address: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly sign: Sign;
}
