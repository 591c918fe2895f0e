/**
 * What the routes of contracts, policies and peers need of the node (rest-api.md §8–10). The state
 * of contracts and policies is part of every chain; peers exist where a network does.
 */
import type { PrivateData, PrivateItem } from '../base/private-store.ts';
import type { DataToSend } from '../privacy/send.ts';
import type { Entry } from '../tx/entries.ts';
import type { Tx } from '../tx/transaction.ts';
import type { ConfirmedTx, EntriesQuery } from './views.ts';

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

export interface Contracts {
  list(): Iterable<ContractView>;
  get(contractId: Uint8Array): ContractView | undefined;
  /** Entries in code-point order of their keys. */
  entries(contractId: Uint8Array, query: EntriesQuery): Iterable<Entry>;
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

export interface Policies {
  list(): Iterable<PolicyView>;
  get(policyId: Uint8Array): PolicyView | undefined;
  /** Data hashes on the chain, in their order there. */
  hashes(policyId: Uint8Array): Iterable<Uint8Array>;
}

/** Data of policies that this node keeps (protocol.md §9). */
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
