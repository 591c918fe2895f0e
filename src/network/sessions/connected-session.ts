/** A session as the streams of its connection see it; open-session.ts makes one. */
import type { PaceLimits } from '../../base/limits/budget.ts';
import type { PeerStream } from '../../base/ports/network.ts';
import type { NoticeHandler, RequestHandler, Session } from './session.ts';

/** A conversation of several messages on one stream. */
export interface StreamHandler {
  /** Longest message, in both directions. */
  readonly messageBytesMax: number;
  /** For one session at a time, in each direction. */
  readonly concurrent: number;
  /** For one owner, over all sessions. */
  readonly pace?: PaceLimits;
  /**
   * Answers a stream that the other side has opened, and ends or aborts it. `charge` counts bytes
   * of work that are not visible in any message; the next stream waits until they are due. A
   * CodecError is an offence and closes the session.
   */
  serve(
    session: ConnectedSession,
    stream: PeerStream,
    charge: (bytes: number) => void,
  ): Promise<void>;
}

export interface ConnectedSession extends Session {
  /** The name of the program. */
  readonly agent: string;
  /** True where this node has dialled. */
  readonly outbound: boolean;
  /**
   * Opens a stream for `action`, once others of this protocol have made room; rejects on time-out,
   * with an error of `action`, or on a closed session.
   */
  converse<T>(
    protocol: string,
    timeoutMs: number,
    action: (stream: PeerStream) => Promise<T>,
  ): Promise<T>;
  serveRequest(protocol: string, handler: RequestHandler, stream: PeerStream): Promise<void>;
  serveStream(protocol: string, handler: StreamHandler, stream: PeerStream): Promise<void>;
  serveNotices(protocol: string, handler: NoticeHandler, stream: PeerStream): Promise<void>;
  isOpen(): boolean;
  /** When the last complete message or answer arrived. */
  lastHeard(): number;
}
