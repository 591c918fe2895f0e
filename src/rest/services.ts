/**
 * What the routes get from the node: the state of the chain, and for each part of the node the
 * functions that the routes call, in the types of that part. Refusals are thrown as ApiError.
 */

import type { Clock } from '../base/ports/clock.ts';
import type { Log } from '../base/ports/log.ts';
import type { KeyFilters } from '../base/ports/patterns.ts';
import type { Random } from '../base/ports/random.ts';
import type { Verifier } from '../base/ports/verifier.ts';
import type { FeatureSupport, VotingSettings } from '../chain/features/feature-activation.ts';
import type { Tip } from '../chain/tip.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { Statuses } from '../contracts/statuses/statuses.ts';
import type { CryptoFamily } from '../crypto/family.ts';
import type { EventStreams } from '../events/event-streams.ts';
import type { Contradiction } from '../finality/votes/evidence.ts';
import type { Keystore } from '../keystore/keystore.ts';
import type { LedgerView } from '../ledger/ledger.ts';
import type { Pool } from '../mempool/pool.ts';
import type { Peering } from '../network/peering.ts';
import type { AddressBook } from '../network/peers/address-book.ts';
import type { Penalties } from '../network/sessions/penalties.ts';
import type { SessionRegistry } from '../network/sessions/session-registry.ts';
import type { Privacy } from '../privacy/privacy-service.ts';
import type { ChainRules } from '../tx/rules/chain-rules.ts';
import type { Fee } from '../tx/rules/fees.ts';
import type { Tx } from '../tx/transaction.ts';
import type { AccessKeys } from './access-keys.ts';

/** The chain at one height: the committed head, or a frozen state. */
export interface ChainView {
  readonly view: LedgerView;
  /** The last block; another object once it is another block. */
  tip(): Tip;
  /** Height of the last block. */
  height(): number;
}

export interface Snapshot extends ChainView {
  /** Call it within seconds: a snapshot keeps old pages of the store alive. */
  release(): void;
}

export interface Services extends ChainView {
  readonly settings: ApiSettings;
  readonly keys: AccessKeys;
  readonly scheme: ChainScheme;
  readonly family: CryptoFamily;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly verifier: Verifier;
  /** The current state, frozen; its reads throw ApiError AnswerTooBig above this many rows. */
  snapshot(rowsMax: number): Snapshot;
  /** Patterns of clients against keys. */
  readonly keyFilters: KeyFilters;
  /** Patterns of contracts, which no client holds up. */
  readonly contractKeyFilters: KeyFilters;
  readonly rules: ChainRules & VotingSettings;
  readonly features: FeatureSupport;
  readonly consensus: ConsensusSettings;
  readonly pool: PoolPort;
  /** The minimum fee of a transaction; its proofs are ignored. Throws ApiError Invalid. */
  feeOf(tx: Tx): Fee;
  readonly keystore: Pick<Keystore, 'addresses' | 'publicKey' | 'sign' | 'requestKey' | 'reload'>;
  readonly node: NodePort;
  /** Undefined where the node keeps no confidential data. */
  readonly privacy: Pick<Privacy, 'send' | 'info' | 'data' | 'holds' | 'sync'> | undefined;
  /** Undefined for a node without peers. */
  readonly peers?: PeersPort | undefined;
  readonly statuses: Pick<Statuses, 'of' | 'failuresOf'>;
  readonly events: Pick<EventStreams, 'open'>;
  /** Absent, or undefined, where nothing votes on blocks. */
  finality?(): FinalityReport | undefined;
  /** Pairs of votes that contradict each other; absent where nothing votes on blocks. */
  evidence?(): readonly Contradiction[];
  /** Whether a signer holds the keys of this node; `away`: it does not answer. */
  readonly signer: () => 'on' | 'off' | 'away';
  /** Whether this node executes contracts; `away`: its container engine does not answer. */
  execution(): 'on' | 'off' | 'away';
}

export interface VoterReport {
  readonly address: string;
  /** The height of its highest vote that this node knows; 0 where it knows none. */
  readonly votedHeight: number;
}

/** GET /finality. */
export interface FinalityReport {
  readonly isActive: boolean;
  readonly finalHeight: number;
  /** The hash of the voters after the final block; empty where no block is final. */
  readonly finalRuleHash: string;
  readonly justifiedHeight: number;
  /** Who decides on the next block. */
  readonly voters: VoterReport[];
  /** The voters after the change that is under way. */
  readonly next: VoterReport[];
  /** What this node does: `voting`, `listening`, `without-note`, `note-not-written`, or `off`. */
  readonly ownVotes: string;
  /** This node makes no block before a quorum has voted. */
  readonly waits: boolean;
  /** Why this node has stopped: two final blocks contradict each other. Empty while it works. */
  readonly conflict: string;
  /** Addresses of voters whose votes contradict each other. */
  readonly contradictions: string[];
  /** The last block of this node, by the hash of its header: what an override names. */
  readonly headHeight: number;
  readonly headHash: string;
  readonly overrides: OverrideReport[];
}

export interface OverrideReport {
  readonly height: number;
  /** Hash of the header of the block, Base58. */
  readonly header: string;
  /** Addresses. */
  readonly voters: string[];
  /** The chain of this node has the block. */
  readonly isApplied: boolean;
}

export interface PoolPort
  extends Pick<
    Pool,
    'submit' | 'submitBytes' | 'check' | 'list' | 'size' | 'bytes' | 'get' | 'whenRead'
  > {
  /** Throws ApiError where this node accepts and signs no transactions. */
  admit?(): void;
  /** Why the pool accepts nothing any more; undefined while it works. */
  problem?(): string | undefined;
}

export interface PeersPort {
  readonly sessions: Pick<SessionRegistry, 'all' | 'of'>;
  readonly book: Pick<AddressBook, 'known'>;
  readonly penalties: Pick<Penalties, 'suspended' | 'blacklisted' | 'clearBlacklist'>;
  readonly connect: Peering['connect'];
  /** `network.handshake-check`. */
  readonly handshakeCheck: boolean;
}

export interface KeyHolder {
  readonly address: Uint8Array;
  readonly publicKey: Uint8Array;
}

export interface NodePort {
  /** The bare number, e.g. `1.1.0`. */
  readonly version: string;
  readonly owner: KeyHolder;
  /** The identity of this node to its peers: the holder of privacy.owner-address. */
  readonly identity: KeyHolder;
  /** Why no node takes anything from this one; undefined while it is a member of its network. */
  outside(): string | undefined;
  /** Why the store cannot be trusted; undefined while it works. */
  problem(): string | undefined;
  /** Why the miner can note no turn before a restart; undefined or absent while it can. */
  minerJournal?(): string | undefined;
  /** Why the disk has no room for transactions; undefined or absent while it has. */
  space?(): string | undefined;
  /** Two final blocks that contradict each other, which have stopped this node; undefined: none. */
  conflict?(): string | undefined;
  /** Starts an orderly exit; returns at once. */
  stop(): void;
}

/** `blockchain.consensus.*`. */
export interface ConsensusSettings {
  readonly type: 'pos' | 'poa';
  /** Only PoS: `blockchain.custom.genesis.average-block-delay`. */
  readonly averageBlockDelay: Duration;
  /** Only PoA, like the following ones. */
  readonly roundDuration: Duration;
  readonly syncDuration: Duration;
  readonly banDurationBlocks: number;
  readonly warningsForBan: number;
  readonly maxBansPercentage: number;
}

export interface Duration {
  readonly ms: number;
  /** For people, e.g. `25 seconds`. */
  readonly text: string;
}

/** The settings `rest-api.*` that the routes read. */
export interface ApiSettings {
  readonly sdkCompatible: boolean;
  readonly transactionsByAddressLimit: number;
  readonly distributionAddressLimit: number;
  readonly cryptoApiKey: boolean;
  /** Names and addresses of this machine, beside those of loopback. */
  readonly ownNames: readonly string[];
}
