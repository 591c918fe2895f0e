/**
 * What the routes need of the node. The node implements these against chain, pool, keystore and
 * network; tests implement them over plain maps. Refusals are thrown as ApiError.
 */
import type { Clock, Log, Random, Verifier } from '../base/ports.ts';
import type { PrivateData, PrivateItem } from '../base/private-store.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { Envelope, GroupEnvelope } from '../crypto/envelope.ts';
import type { DataToSend } from '../privacy/accept-item.ts';
import type { Tx } from '../tx/transaction.ts';
import type { ActivationReads, ConsensusReads, Snapshot, StateReads } from './reads.ts';

export interface Pool {
  /**
   * Checks the transaction against everything and adds it; resolves with the one in the pool,
   * which is an earlier one where the same was already there. Rejects with ApiError.
   */
  submit(tx: Tx): Promise<Tx>;
  /** Throws ApiError where this node takes and signs no transactions at all. */
  admit?(): void;
  list(): Iterable<Tx>;
  size(): number;
  /** Bytes of all its transactions. */
  bytes(): number;
  get(id: Uint8Array): Tx | undefined;
  /** Why it takes nothing any more; undefined while all is well. */
  problem?(): string | undefined;
}

export interface Fees {
  /** The least fee of a transaction, whose proofs are not looked at. Throws ApiError Invalid. */
  calculate(tx: Tx): {
    /** Undefined: the native token. */
    readonly feeAssetId: Uint8Array | undefined;
    readonly feeAmount: bigint;
  };
}

export interface Keystore {
  addresses(): readonly string[];
  publicKey(address: Uint8Array): Uint8Array | undefined;
  /** Throws ApiError MissingSenderPrivateKey where the key is absent or the password wrong. */
  sign(
    address: Uint8Array,
    password: string | undefined,
    message: Uint8Array,
  ): Uint8Array | Promise<Uint8Array>;
  /** Reads the key files anew. */
  reload(): void | Promise<void>;
}

/** Whose private key is used, and the password that it may have. */
export interface KeyOwner {
  readonly address: Uint8Array;
  readonly password: string | undefined;
}

/**
 * Encryption between accounts (accounts.md#encryption-between-accounts). Rejects with
 * MissingSenderPrivateKey where the own key is absent or the password wrong, with InvalidPublicKey
 * for a key with which no shared secret exists.
 */
export interface Encryption {
  /** An envelope for each recipient, in their order. */
  separate(
    from: KeyOwner,
    recipients: readonly Uint8Array[],
    plain: Uint8Array,
  ): Promise<readonly Envelope[]>;
  common(
    from: KeyOwner,
    recipients: readonly Uint8Array[],
    plain: Uint8Array,
  ): Promise<GroupEnvelope>;
  /** Undefined where not everything authenticates; the texts are as `decryptText` reads them. */
  decrypt(
    to: KeyOwner,
    senderPublicKey: Uint8Array,
    encryptedText: string,
    wrappedKey: string,
  ): Promise<Uint8Array | undefined>;
}

/** Data of policies that this node keeps (privacy.md). */
export interface Privacy {
  /** Stores the data and registers their hash; resolves with the 114, which `broadcast` sends. */
  send(request: DataToSend, broadcast: boolean): Promise<Tx>;
  /**
   * Of the named policy, or of any with data of this hash. Rejects with PolicyDataMissing, and has
   * them fetched then; with PolicyNotFound.
   */
  info(hash: Uint8Array, policyId?: Uint8Array): Promise<PrivateItem>;
  data(hash: Uint8Array, policyId?: Uint8Array): Promise<PrivateData>;
  holds(item: { readonly policyId: Uint8Array; readonly hash: Uint8Array }): Promise<boolean>;
  /** Fetches what is missing of one policy or of all, on behalf of this address. */
  sync(
    policyId?: Uint8Array,
    address?: Uint8Array,
  ): Promise<{ readonly problem?: string; readonly restarted: number }>;
}

export interface ConnectedPeer {
  readonly address: string;
  readonly declaredAddress: string;
  readonly peerName: string;
  readonly peerNonce: bigint;
  readonly applicationName: string;
  readonly applicationVersion: string;
  readonly applicationConsensus: string;
  readonly nodeOwnerAddress: string;
}

export interface Peers {
  connected(): readonly ConnectedPeer[];
  all(): readonly { readonly address: string; readonly lastSeen: number }[];
  suspended(): readonly { readonly hostname: string; readonly timestamp: number }[];
  blacklisted(): readonly {
    readonly hostname: string;
    readonly timestamp: number;
    readonly reason: string;
  }[];
  /** Resolves with the name of the host once it is resolved; rejects where it cannot be. */
  connect(host: string, port: number): Promise<string>;
  clearBlacklist(): void;
  /** Where the node of this owner is connected from. */
  hostname(owner: Uint8Array): { readonly hostname: string; readonly ip: string } | undefined;
  /** False where `network.handshake-check` is off. */
  readonly handshakeCheck: boolean;
}

export interface KeyHolder {
  readonly address: Uint8Array;
  readonly publicKey: Uint8Array;
}

export interface NodeInfo {
  /** The bare number, e.g. `1.1.0`. */
  readonly version: string;
  readonly platformCrypto: boolean;
  /** Ticker of the native token in messages. */
  readonly nativeToken: string;
  /** Type → fee, of every known type. */
  readonly minimumFee: Readonly<Record<number, bigint>>;
  readonly additionalFee: Readonly<Record<number, bigint>>;
  readonly blockTiming:
    | { readonly averageBlockDelay: number }
    | { readonly roundDuration: number; readonly syncDuration: number };
  readonly owner: KeyHolder;
  /** Who this node is to its peers: the holder of privacy.owner-address. */
  readonly identity: KeyHolder;
  /** Why the store cannot be trusted; undefined while all is well. */
  problem(): string | undefined;
  /** Starts an orderly exit; returns at once. */
  stop(): void;
}

/** `rest-api.*` as far as the routes read it. */
export interface ApiSettings {
  readonly sdkCompatible: boolean;
  readonly transactionsByAddressLimit: number;
  readonly distributionAddressLimit: number;
  /** Base58 of secureHash; undefined: every protected endpoint refuses. */
  readonly apiKeyHash: string | undefined;
  readonly privacyApiKeyHash: string | undefined;
  readonly cryptoApiKey: boolean;
}

export interface Hashes {
  fast(bytes: Uint8Array): Uint8Array;
  secure(bytes: Uint8Array): Uint8Array;
}

export interface Services extends StateReads {
  readonly settings: ApiSettings;
  readonly scheme: ChainScheme;
  readonly hashes: Hashes;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly verifier: Verifier;
  /** The present state, frozen; its reads throw ApiError AnswerTooBig beyond so many rows. */
  snapshot(rowsMax: number): Snapshot;
  readonly pool: Pool;
  readonly fees: Fees;
  readonly keystore: Keystore;
  readonly encryption: Encryption;
  readonly consensus: ConsensusReads;
  readonly activation: ActivationReads;
  readonly node: NodeInfo;
  /** Undefined where the node keeps no private data. */
  readonly privacy: Privacy | undefined;
  /** Absent while the node has no network. */
  readonly peers?: Peers | undefined;
}
