/**
 * What the routes read from the chain, resource by resource. All of it reads the committed head, or
 * one frozen state, and answers at once. Byte values are shared and must be treated as immutable.
 */
import type { Entry } from '../tx/fields/entries.ts';
import type { Tx } from '../tx/transaction.ts';

/** A transaction together with the height of its block. */
export interface ConfirmedTx {
  readonly tx: Tx;
  readonly height: number;
}

/** Which part of an account's or contract's entries is asked for. */
export interface EntriesQuery {
  readonly offset: number;
  readonly limit: number;
  /** Keys that pass; absent: all. */
  readonly accepts?: (key: string) => boolean;
}

/** Long work in steps: everything else may have its turn between two of them. */
export type Steps<T> = Generator<undefined, T>;

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
  /** Of an existing block, read one by one. */
  transactionsAt(height: number): Iterable<Tx>;
  /** Height of the block with this signature. */
  heightOf(signature: Uint8Array): number | undefined;
  /** Undefined where the transaction is unknown or only in the pool. */
  transaction(id: Uint8Array): ConfirmedTx | undefined;
  /**
   * Newest first, at most `limit`, starting below the transaction `after`, which the caller has
   * found in the chain.
   */
  transactionsOf(address: Uint8Array, limit: number, after?: Uint8Array): Iterable<ConfirmedTx>;
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

export interface AccountReads {
  /** Regular balance: the hot path. */
  balance(address: Uint8Array): bigint;
  balances(address: Uint8Array): Balances;
  /** Minimum regular balance over the last `confirmations` ≥ 1 blocks. */
  lowestBalance(address: Uint8Array, confirmations: number): Steps<bigint>;
  /** Minimum effective balance over the last `confirmations` ≥ 1 blocks. */
  lowestEffective(address: Uint8Array, confirmations: number): Steps<bigint>;
  generatingAt(address: Uint8Array, height: number): bigint;
  /** Entries in code-point order of their keys; undefined for each that is passed over. */
  data(address: Uint8Array, query: EntriesQuery): Iterable<Entry | undefined>;
  dataEntry(address: Uint8Array, key: string): Entry | undefined;
  script(address: Uint8Array): ScriptView | undefined;
  /** Bare names. */
  aliasesOf(address: Uint8Array): readonly string[];
  /** The address behind a bare name. */
  aliasOwner(name: string): Uint8Array | undefined;
}

export interface LeaseReads {
  /** Leases in force that the address gave or received, newest first. */
  active(address: Uint8Array): Iterable<ConfirmedTx>;
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
  readonly issueTransaction: ConfirmedTx;
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
  ): Steps<{
    readonly items: Iterable<readonly [Uint8Array, bigint]>;
    readonly hasNext: boolean;
    readonly last: Uint8Array | undefined;
  }>;
}

export interface RoleView {
  readonly role: string;
  readonly dueTimestamp?: number | undefined;
}

export interface PermissionReads {
  /** Roles in force at that time, in the order of their numbers. */
  roles(address: Uint8Array, timestamp: number): readonly RoleView[];
  /** Registered nodes, from the state. */
  participants(): Iterable<{ readonly address: Uint8Array; readonly publicKey: Uint8Array }>;
}

export interface ContractView {
  readonly contractId: Uint8Array;
  readonly image: string;
  /** 64 hex digits. */
  readonly imageHash: string;
  readonly version: number;
  readonly active: boolean;
}

/** One outcome of an execution as this node knows it. */
export interface ExecutionStatus {
  readonly sender: Uint8Array;
  readonly senderPublicKey: Uint8Array;
  readonly txId: Uint8Array;
  readonly status: 'Success' | 'Error' | 'Failure';
  readonly code: number | undefined;
  readonly message: string;
  readonly timestamp: number;
  readonly signature: Uint8Array;
}

export interface ContractReads {
  list(): Iterable<ContractView>;
  get(contractId: Uint8Array): ContractView | undefined;
  /** Entries in code-point order of their keys; undefined for each that is passed over. */
  entries(contractId: Uint8Array, query: EntriesQuery): Iterable<Entry | undefined>;
  entry(contractId: Uint8Array, key: string): Entry | undefined;
  /** The type-105 transaction that carries the results of this 103, 104 or 107. */
  executedFor(txId: Uint8Array): ConfirmedTx | undefined;
  /** By timestamp; empty where nothing is known. */
  statuses(txId: Uint8Array): readonly ExecutionStatus[];
}

export interface PolicyView {
  readonly policyId: Uint8Array;
  readonly name: string;
  readonly description: string;
  readonly recipients: readonly Uint8Array[];
  readonly owners: readonly Uint8Array[];
}

export interface PolicyReads {
  list(): Iterable<PolicyView>;
  get(policyId: Uint8Array): PolicyView | undefined;
  /** Data hashes on the chain, in their order there. */
  hashes(policyId: Uint8Array): Iterable<Uint8Array>;
}

/** What is read from the state of the chain. */
export interface StateReads {
  readonly chain: ChainReads;
  readonly accounts: AccountReads;
  readonly leases: LeaseReads;
  readonly assets: AssetReads;
  readonly permissions: PermissionReads;
  readonly contracts: ContractReads;
  readonly policies: PolicyReads;
}

export interface Snapshot {
  readonly reads: StateReads;
  /** Called within seconds: a snapshot keeps old pages of the store alive. */
  release(): void;
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
