/** What a node gets of the world, and of its operator beside the configuration. */
import type { Pages } from '../api/pages.ts';
import type { Disposal } from '../base/disposal.ts';
import type { Http } from '../base/http.ts';
import type { Network } from '../base/network.ts';
import type {
  Clock,
  Files,
  Journal,
  Log,
  Metrics,
  ProcessReadings,
  Random,
  Store,
  Verifier,
} from '../base/ports.ts';
import type { PrivateStore } from '../base/private-store.ts';
import type { Audit } from '../chain/audit.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { CryptoFamily } from '../crypto/family.ts';
import type { Keystore } from '../keystore/keystore.ts';

export interface NodePorts {
  readonly scheme: ChainScheme;
  readonly family: CryptoFamily;
  readonly store: Store;
  readonly journal: Journal;
  /** Keeps the turns that the miner has used. */
  readonly turns: Journal;
  readonly verifier: Verifier;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly http: Http;
  /** Absent: the node has no peers. */
  readonly network?: Network | undefined;
  /** Keeps the known peers; absent: they are forgotten at the end. */
  readonly files?: Files | undefined;
  readonly keystore: Keystore;
  /** Keeps the confidential data of policies; absent: this node has no part in them. */
  readonly privateStore?: PrivateStore | undefined;
  /** Private key of the owner, unlocked at start. */
  readonly ownerKey: Uint8Array;
  /** That of privacy.owner-address, by which other nodes know this one; absent: the owner's. */
  readonly identityKey?: Uint8Array | undefined;
  /** The bare number of this release. */
  readonly version: string;
  /** Absent: no pages are served. */
  readonly pages?: Pages | undefined;
  /** Absent where metrics are switched off. */
  readonly telemetry?: { readonly metrics: Metrics; readonly process: ProcessReadings } | undefined;
  /** What is checked after every commit; absent: nothing. */
  readonly audit?: Audit | undefined;
  /** Asks for an orderly exit, with a cause if a failure is the reason; returns at once. */
  readonly requestStop: (cause?: Error) => void;
  /** Ends the ports themselves, below the services; absent: their owner ends them. */
  readonly started?: Disposal | undefined;
}
