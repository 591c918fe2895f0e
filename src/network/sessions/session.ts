/**
 * The interface between services and other nodes: sessions of registered owners, each with
 * requests and notices. Transport, handshake, peer database and bans are behind these interfaces.
 *
 * Invariants: a session exists only while its owner is a registered participant at the head; there
 * is at most one for each owner; every message is bounded in size, count and time before anything
 * is spent on it.
 */
import type { PaceLimits } from '../../base/limits/budget.ts';
import type { Evidence } from '../../codec/evidence.ts';
import type { NodeMode } from '../messages/handshake-messages.ts';

/** Why a peer is penalised; penalties.ts has the weights and durations. */
export type Offence =
  | 'malformed-message'
  | 'invalid-block'
  | 'invalid-transactions'
  | 'unanswered-request'
  | 'withheld'
  | 'wrong-private-data'
  | 'forged-status'
  | 'flood'
  | 'forged-handshake';

export interface Session {
  /** Address of the owner, 26 bytes. */
  readonly owner: Uint8Array;
  readonly ownerPublicKey: Uint8Array;
  /** Address of the account that makes its blocks: the owner, unless it has proved another one. */
  readonly miner: Uint8Array;
  readonly nodeName: string;
  readonly nonce: bigint;
  readonly version: string;
  readonly mode: NodeMode;
  readonly declaredAddress: { readonly host: string; readonly port: number } | undefined;
  readonly remoteHost: string;
  readonly remotePort: number;
  /**
   * Sends a request. Rejects on refusal, on a closed session, and on time-out: with SilentLine
   * where no other message arrived either, and with Misconduct where the peer refused or gave no
   * whole answer.
   */
  request(protocol: string, message: Uint8Array, timeoutMs: number): Promise<Uint8Array>;
  /**
   * Queues a notice; false when the queue of this peer is full and it was dropped. Notices of one
   * protocol arrive in order, those of several do not wait for each other.
   */
  notify(protocol: string, message: Uint8Array): boolean;
  /**
   * Records an offence, also of a closed session, but `withheld` only where the session is still open
   * two seconds later. A grave or repeated one closes the session and blacklists the owner.
   */
  offend(offence: Offence, evidence: Evidence): void;
  close(reason: string): void;
}

export interface RequestHandler {
  /** The longest message accepted. */
  readonly messageBytesMax: number;
  /** The longest answer accepted. */
  readonly answerBytesMax: number;
  /** For one session at a time, in each direction. */
  readonly concurrent: number;
  /** For one owner, over all sessions. */
  readonly pace?: PaceLimits;
  /**
   * An error refuses the request, and the peer gets its message. A CodecError is an offence and
   * closes the session.
   */
  answer(session: Session, message: Uint8Array): Promise<Uint8Array>;
}

export interface NoticeHandler {
  readonly messageBytesMax: number;
  readonly pace?: PaceLimits;
  /**
   * Must return quickly: it queues the message and processes it later. A CodecError is an offence
   * and closes the session.
   */
  take(session: Session, message: Uint8Array): void;
}

export interface Sessions {
  all(): readonly Session[];
  of(owner: Uint8Array): Session | undefined;
  onOpen(action: (session: Session) => void): void;
  onClose(action: (session: Session, reason: string) => void): void;
  /** Protocols are registered before the network starts. */
  handleRequests(protocol: string, handler: RequestHandler): void;
  handleNotices(protocol: string, handler: NoticeHandler): void;
}
