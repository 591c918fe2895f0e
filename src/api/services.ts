/**
 * What the routes need of the node, resource by resource. The node implements these against chain,
 * pool and keystore; tests implement them over plain maps.
 *
 * Everything here reads the committed head and answers at once, unless it says Promise. Byte
 * values are shared and must be treated as immutable. Refusals are thrown as ApiError.
 */
import type { Clock, Log, Random, Verifier } from '../base/ports.ts';
import type { Chain } from '../codec/codec.ts';
import type { Envelope, GroupEnvelope } from '../crypto/envelope.ts';
import type { Entry } from '../tx/entries.ts';
import type { Tx } from '../tx/transaction.ts';
import type { Contracts, Peers, Policies, Privacy } from './services-network.ts';
import type { ConfirmedTx, EntriesQuery } from './views.ts';

export type { ConfirmedTx, EntriesQuery } from './views.ts';

export interface HeaderView {
  readonly height: number;
  readonly version: number;
  readonly timestamp: number;
  readonly reference: Uint8Array;
  readonly signature: Uint8Array;
  /** Address of the generator. */
  readonly generator: Uint8Array;
  readonly features: readonly number[];
  /** Bytes of the whole block. */
  readonly size: number;
  readonly transactionCount: number;
  /** Sum of the native fees. */
  readonly fee: bigint;
  readonly consensus:
    | {
        readonly kind: 'pos';
        readonly baseTarget: bigint;
        readonly generationSignature: Uint8Array;
      }
    | { readonly kind: 'poa'; readonly skippedRounds: number };
}

export interface BlockView extends HeaderView {
  readonly transactions: readonly Tx[];
}

export interface ChainReads {
  height(): number;
  /** undefined above the tip and below 1. */
  headerAt(height: number): HeaderView | undefined;
  blockAt(height: number): BlockView | undefined;
  /** Height of the block with this signature. */
  heightOf(signature: Uint8Array): number | undefined;
  /** Undefined where the transaction is unknown or only in the pool. */
  transaction(id: Uint8Array): ConfirmedTx | undefined;
  /**
   * Newest first, at most `limit`, starting below the transaction `after`, which the caller has
   * found in the chain.
   */
  transactionsOf(address: Uint8Array, limit: number, after?: Uint8Array): readonly ConfirmedTx[];
  /** The score of the chain up to this block. */
  scoreAt(height: number): bigint;
}

export interface Balances {
  readonly regular: bigint;
  readonly available: bigint;
  readonly effective: bigint;
  readonly generating: bigint;
}

export interface ScriptView {
  readonly script: Uint8Array;
  readonly text: string;
  readonly complexity: number;
  readonly extraFee: bigint;
}

export interface Accounts {
  /** Regular balance: the hot path. */
  balance(address: Uint8Array): bigint;
  balances(address: Uint8Array): Balances;
  /** Minimum regular balance over the last `confirmations` ≥ 1 blocks. */
  lowestBalance(address: Uint8Array, confirmations: number): bigint;
  /** Minimum effective balance over the last `confirmations` ≥ 1 blocks. */
  lowestEffective(address: Uint8Array, confirmations: number): bigint;
  generatingAt(address: Uint8Array, height: number): bigint;
  /** Entries in code-point order of their keys. */
  data(address: Uint8Array, query: EntriesQuery): Iterable<Entry>;
  dataEntry(address: Uint8Array, key: string): Entry | undefined;
  script(address: Uint8Array): ScriptView | undefined;
  /** Bare names. */
  aliasesOf(address: Uint8Array): readonly string[];
  /** The address behind a bare name. */
  aliasOwner(name: string): Uint8Array | undefined;
}

export interface Leases {
  /** Leases in force that the address gave or received, newest first. */
  active(address: Uint8Array): readonly ConfirmedTx[];
  isActive(leaseId: Uint8Array): boolean;
}

export interface AssetView {
  readonly issueHeight: number;
  readonly issueTimestamp: number;
  readonly issuer: Uint8Array;
  readonly issuerPublicKey: Uint8Array;
  readonly name: string;
  readonly description: string;
  readonly decimals: number;
  readonly reissuable: boolean;
  /** Units that exist now. */
  readonly quantity: bigint;
  readonly script: ScriptView | undefined;
  /** Undefined while the asset is not sponsored. */
  readonly minSponsoredAssetFee: bigint | undefined;
  /** Spendable native balance of the issuer. */
  readonly sponsorBalance: bigint;
  readonly issueTransaction: Tx;
}

export interface AssetReads {
  details(assetId: Uint8Array): AssetView | undefined;
  balance(address: Uint8Array, assetId: Uint8Array): bigint;
  /** Assets of which the address has more than 0. */
  balancesOf(address: Uint8Array): Iterable<readonly [assetId: Uint8Array, balance: bigint]>;
  /** Addresses that have more than 0. */
  distribution(assetId: Uint8Array): Iterable<readonly [address: Uint8Array, balance: bigint]>;
  /**
   * The same at a past height in the order of addresses, beyond `after`; at most `limit`. The next
   * page begins beyond `last`, which need not be among the items.
   */
  distributionAt(
    assetId: Uint8Array,
    height: number,
    limit: number,
    after?: Uint8Array,
  ): {
    readonly items: Iterable<readonly [Uint8Array, bigint]>;
    readonly hasNext: boolean;
    readonly last: Uint8Array | undefined;
  };
}

export interface Pool {
  /**
   * Checks the transaction against everything and adds it; resolves with the one in the pool,
   * which is an earlier one where the same was already there. Rejects with ApiError.
   */
  submit(tx: Tx): Promise<Tx>;
  /** Throws ApiError where this node takes and signs no transactions at all. */
  admit?(): void;
  list(): readonly Tx[];
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
 * Encryption between accounts (transactions.md §1.2). Rejects with MissingSenderPrivateKey where
 * the own key is absent or the password wrong, with InvalidPublicKey for a key that nobody can have
 * a secret with.
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

export type ConsensusSettings =
  | { readonly kind: 'pos' }
  | {
      readonly kind: 'poa';
      /** As configured, e.g. `25 seconds`. */
      readonly roundDuration: string;
      readonly syncDuration: string;
      readonly banDurationBlocks: number;
      readonly warningsForBan: number;
      readonly maxBansPercentage: number;
    };

export interface ConsensusReads {
  readonly settings: ConsensusSettings;
  /** Addresses with an active role miner at that time, in queue order under PoA. */
  miners(timestamp: number): readonly Uint8Array[];
  /** The queue of the miners at the time of this block (PoA). */
  minersAtHeight(height: number): readonly Uint8Array[];
  bannedMiners(height: number): readonly Uint8Array[];
}

export interface RoleView {
  readonly role: string;
  readonly dueTimestamp?: number | undefined;
}

export interface PermissionsReads {
  /** Roles in force at that time, in the order of their numbers. */
  roles(address: Uint8Array, timestamp: number): readonly RoleView[];
  /** Registered nodes, from the state. */
  participants(): Iterable<{ readonly address: Uint8Array; readonly publicKey: Uint8Array }>;
}

export interface FeatureView {
  readonly id: number;
  readonly description: string;
  readonly blockchainStatus: 'VOTING' | 'APPROVED' | 'ACTIVATED';
  readonly nodeStatus: 'NOT_IMPLEMENTED' | 'IMPLEMENTED' | 'VOTED';
  /** For APPROVED and ACTIVATED. */
  readonly activationHeight?: number | undefined;
  /** For VOTING. */
  readonly supportingBlocks?: number | undefined;
}

export interface ActivationReads {
  status(): {
    readonly height: number;
    readonly votingInterval: number;
    readonly votingThreshold: number;
    readonly nextCheck: number;
    /** Ids ascending. */
    readonly features: readonly FeatureView[];
  };
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

export interface Services {
  readonly settings: ApiSettings;
  readonly codec: Chain;
  readonly hashes: Hashes;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly verifier: Verifier;
  readonly chain: ChainReads;
  readonly accounts: Accounts;
  readonly leases: Leases;
  readonly assets: AssetReads;
  readonly pool: Pool;
  readonly fees: Fees;
  readonly keystore: Keystore;
  readonly encryption: Encryption;
  readonly consensus: ConsensusReads;
  readonly permissions: PermissionsReads;
  readonly activation: ActivationReads;
  readonly node: NodeInfo;
  readonly contracts: Contracts;
  readonly policies: Policies;
  /** Undefined where the node keeps no private data. */
  readonly privacy: Privacy | undefined;
  /** Absent while the node has no network. */
  readonly peers?: Peers | undefined;
}
