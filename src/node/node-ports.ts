/**
 * What a node receives in addition to its configuration: its ports, and values from its operator.
 */

import type { Disposal } from '../base/disposal.ts';
import type { AuditLog } from '../base/ports/audit-log.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { Containers } from '../base/ports/containers.ts';
import type { ListenEvents } from '../base/ports/event-service.ts';
import type { DiskSpace, Files } from '../base/ports/files.ts';
import type { Http } from '../base/ports/http.ts';
import type { Journal } from '../base/ports/journal.ts';
import type { Log } from '../base/ports/log.ts';
import type { Metrics } from '../base/ports/metrics.ts';
import type { Network } from '../base/ports/network.ts';
import type { Patterns } from '../base/ports/patterns.ts';
import type { PrivateStore } from '../base/ports/private-store.ts';
import type { ProcessReadings } from '../base/ports/process-readings.ts';
import type { Random } from '../base/ports/random.ts';
import type { Store } from '../base/ports/store.ts';
import type { Verifier } from '../base/ports/verifier.ts';
import type { KeyHolder } from '../base/signer/signing.ts';
import type { Audit } from '../chain/store/audit.ts';
import type { ChainScheme } from '../codec/codec.ts';
import type { CryptoFamily } from '../crypto/family.ts';
import type { Keystore } from '../keystore/keystore.ts';
import type { Pages } from '../rest-framework/pages.ts';

export interface NodePorts {
  readonly scheme: ChainScheme;
  readonly family: CryptoFamily;
  readonly store: Store;
  /** The disk below the stores of this node; absent: its free space is not watched. */
  readonly disk?: DiskSpace | undefined;
  readonly journal: Journal;
  /** Stores the turns that the miner has used. */
  readonly turns: Journal;
  readonly verifier: Verifier;
  /** Matches patterns of clients, in a thread. */
  readonly patterns: Patterns;
  /** The same for contracts, which no client holds up. */
  readonly contractPatterns: Patterns;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly http: Http;
  /** Serves the REST interface; absent: `http` does. */
  readonly restHttp?: Http | undefined;
  /** Serves events over gRPC; absent: they are not served so. */
  readonly listenEvents?: ListenEvents | undefined;
  /** Absent: the node has no peers. */
  readonly network?: Network | undefined;
  /** Stores the known peers; absent: they are forgotten at the end. */
  readonly files?: Files | undefined;
  readonly keystore: Keystore;
  /** Stores the confidential data of policies; absent: this node takes no part in policies. */
  readonly privateStore?: PrivateStore | undefined;
  /** The container engine; absent: this node executes no contracts. */
  readonly containers?: Containers | undefined;
  /** The private key of the owner, unlocked at start; absent where `keyHolder` has it. */
  readonly ownerKey?: Uint8Array | undefined;
  /**
   * The private key of privacy.owner-address, by which other nodes know this one; absent: the
   * owner's.
   */
  readonly identityKey?: Uint8Array | undefined;
  /** Holds all keys of this node outside of it; absent: they are in this process. */
  readonly keyHolder?: KeyHolder | undefined;
  /** The version number of this release. */
  readonly version: string;
  /** Absent: no pages are served. */
  readonly pages?: Pages | undefined;
  /** Absent where metrics are switched off. */
  readonly telemetry?: { readonly metrics: Metrics; readonly process: ProcessReadings } | undefined;
  /** Keeps who did what with a key; absent: nobody does. */
  readonly auditLog?: AuditLog | undefined;
  /** The checks after every commit; absent: none. */
  readonly audit?: Audit | undefined;
  /** Requests an orderly exit, with a cause if a failure is the reason; returns at once. */
  readonly requestStop: (cause?: Error) => void;
  /**
   * Closes the ports themselves, after the services; absent: the owner of the ports closes them.
   */
  readonly started?: Disposal | undefined;
}
