/**
 * Container contracts as a port: what the node asks of the engine that runs them, and what a
 * running contract may ask of the node (contracts.md#execution-and-results).
 *
 * It is in `base` because adapters import nothing else of the node. Ids and addresses are Base58
 * texts, in which both interfaces to a container carry them.
 */

export type DataEntry =
  | { readonly key: string; readonly type: 'integer'; readonly value: bigint }
  | { readonly key: string; readonly type: 'boolean'; readonly value: boolean }
  | { readonly key: string; readonly type: 'binary'; readonly value: Uint8Array }
  | { readonly key: string; readonly type: 'string'; readonly value: string };

/** Contracts with equal images share a container. */
export interface ContractImage {
  readonly image: string;
  /** SHA-256 id of the image, 64 hexadecimal digits. */
  readonly imageHash: string;
}

/** The block that is being made, as a contract sees it. */
export interface BlockInfo {
  readonly height: number;
  readonly timestamp: number;
  readonly minerAddress: string;
  /** Id of the parent. */
  readonly reference: string;
}

/** The transaction that a container executes. */
export interface ContractTransaction {
  readonly id: string;
  readonly sender: string;
  readonly senderPublicKey: string;
  readonly contractId: string;
  readonly params: readonly DataEntry[];
  readonly fee: bigint;
  readonly feeAssetId: string | undefined;
  readonly version: number;
  /** version 1 | count 2 | (length 2, proof)* */
  readonly proofs: Uint8Array;
  readonly timestamp: number;
  readonly data:
    | {
        readonly kind: 'create';
        readonly image: string;
        readonly imageHash: string;
        readonly contractName: string;
      }
    | { readonly kind: 'call'; readonly contractVersion: number };
  /** The JSON of the REST interface. */
  readonly json: () => string;
}

/** One run of a contract for one transaction. */
export interface ContractExecution {
  readonly image: ContractImage;
  /** Version of the 103 that made the contract; it selects the interface of the container. */
  readonly createVersion: number;
  readonly transaction: ContractTransaction;
  readonly block: BlockInfo;
  /** Secret of this run: it opens the reads while the run lasts, and nothing afterwards. */
  readonly token: string;
  readonly reads: ContractReads;
  /** Aborts a run whose result is no longer wanted; its container is then replaced. */
  readonly signal?: AbortSignal | undefined;
}

export type ContractFailure = {
  readonly kind: 'failure';
  /** Shown to users: no paths and no secrets. */
  readonly message: string;
  /** True where another attempt may succeed: a time-out, a container that ended. */
  readonly recoverable: boolean;
  /** True where the engine or a registry is at fault, and not the program in the image. */
  readonly system: boolean;
};

export type ContractOutcome =
  /** Entries as the contract gave them; their sizes, keys and number are not judged yet. */
  | { readonly kind: 'success'; readonly results: readonly DataEntry[] }
  /** The contract refused the call. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  | ContractFailure;

export type Readiness = { readonly kind: 'ready' | 'starting' } | ContractFailure;

export interface Containers {
  /**
   * Says whether a call could begin at once. Where not, the image is fetched and its container
   * started in the background; asking again is cheap. A failure is told once, then a next attempt
   * begins, no earlier than its pause allows. `creator`: of the contract; creators take turns.
   */
  prepare(image: ContractImage, createVersion: number, creator: string): Readiness;
  /** Fetches the image and compares its digest; undefined where it is good. */
  checkImage(image: ContractImage, creator: string): Promise<ContractFailure | undefined>;
  /** Runs one call on a container that is ready. Never rejects. */
  run(execution: ContractExecution): Promise<ContractOutcome>;
  /** Removes the idle container of an image that is no longer used. */
  release(image: ContractImage): void;
  /** The port at which this node serves the reads of the simple interface, if a setting leaves it open. */
  readsAt(port: number): void;
  /**
   * True where no two containers share this address. Those of another machine, and of an engine
   * without root, may have that of their gateway.
   */
  isOfOne(address: string): boolean;
  /** Why contracts cannot run at present; undefined while the engine answers. */
  problem(): string | undefined;
  /** Ends all runs and removes all containers. */
  close(): Promise<void>;
}

export interface KeysQuery {
  readonly offset: number;
  readonly limit: number;
  /** Regular expression for the whole key; it comes from a contract and is not trusted. */
  readonly matches?: string | undefined;
  /** Only these keys; ignored where `matches` is given. */
  readonly keys?: readonly string[] | undefined;
}

export interface AssetAmount {
  readonly assetId: string | undefined;
  readonly amount: bigint;
  readonly decimals: number;
}

export interface RoleInfo {
  readonly role: string;
  readonly due: number | undefined;
}

/**
 * What a running contract may read: the state of the block that is being made, with the results of
 * the calls before it. Each run has a budget of rows and bytes. All throw ApiError: for what does
 * not exist, for texts that are no ids or addresses, and above the budget.
 */
export interface ContractReads {
  /** Takes these rows from the budget, for parts of a request that read none. */
  spend(rows: number): void;
  /** What `read` gives for each item; everything else runs in between. */
  streamed<T, R>(items: readonly T[], read: (item: T) => R): Promise<readonly R[]>;
  contractEntry(contractId: string, key: string): DataEntry;
  contractEntries(contractId: string, query: KeysQuery): Promise<readonly DataEntry[]>;
  /** Addresses of the node's keystore. */
  addresses(): readonly string[];
  addressData(address: string, offset: number, limit: number): Promise<readonly DataEntry[]>;
  /** `assetId` undefined: the native token. */
  balance(address: string, assetId: string | undefined): AssetAmount;
  /** Id of an asset that this transaction would issue under the nonce. */
  assetId(nonce: number): string;
  time(): { readonly system: number; readonly ntp: number };
  transactionExists(id: string): boolean;
  /** Roles in force at `timestamp`; undefined: now. */
  permissions(
    address: string,
    timestamp: number | undefined,
  ): { readonly roles: readonly RoleInfo[]; readonly timestamp: number };
  /** One list, since the others may be longer than an answer. */
  policyList(
    policyId: string,
    list: 'recipients' | 'owners' | 'hashes',
  ): Promise<readonly string[]>;
  blockHeader(of: { readonly id: string } | { readonly height: number }): {
    readonly version: number;
    readonly height: number;
    readonly id: string;
    readonly reference: string;
    readonly minerAddress: string;
    readonly transactionCount: number;
    readonly timestamp: number;
  };
}
