/**
 * One session: a connection whose other end has proved to be a registered owner.
 *
 * Serves all streams of the session. A malformed message ends the session.
 */

import { isOurs } from '../../base/assert.ts';
import type { PaceLimits } from '../../base/budget.ts';
import { TooLate } from '../../base/deadline.ts';
import { MalformedStream, type PeerConnection, type PeerStream } from '../../base/network.ts';
import type { Clock } from '../../base/ports.ts';
import { createSlots, type Slots } from '../../base/slots.ts';
import { CodecError } from '../../codec/codec.ts';
import type { Identity } from './handshake.ts';
import { versionText } from './handshake.ts';
import { createNoticeQueue, type NoticeQueue, readNotices } from './notices.ts';
import { type Pace, paced, pause } from './pace.ts';
import { answerRequests, converse, RequestStreams, SilentLine } from './requests.ts';
import type { NoticeHandler, Offence, RequestHandler, Session } from './session.ts';

/** Requests of this node that may wait for one peer. */
const WAITING_MAX = 1000;

/** A conversation of several messages on one stream. */
export interface StreamHandler {
  /** Longest message, in both directions. */
  readonly messageBytesMax: number;
  /** Of one session at a time, in each direction. */
  readonly concurrent: number;
  /** Of one owner, whatever the session. */
  readonly pace?: PaceLimits;
  /**
   * Answers a stream that the other side has opened, and ends or aborts it. `charge` counts bytes
   * of work that no message shows; the next stream waits until they are due. A CodecError is an
   * offence and closes the session.
   */
  serve(
    session: ConnectedSession,
    stream: PeerStream,
    charge: (bytes: number) => void,
  ): Promise<void>;
}

export interface ConnectedSession extends Session {
  /** Name of the program. */
  readonly agent: string;
  /** This node has dialled. */
  readonly outbound: boolean;
  /**
   * Opens a stream of its own for as long as `action` takes, once others of this protocol have made
   * room; rejects on time-out, with what the action throws, or on a closed session.
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
  /** When something whole arrived last. */
  lastHeard(): number;
}

export interface SessionPorts {
  readonly clock: Clock;
  /** Full name of a protocol on the wire. */
  readonly wireName: (protocol: string) => string;
  readonly requestHandler: (protocol: string) => RequestHandler | undefined;
  readonly streamHandler: (protocol: string) => StreamHandler | undefined;
  readonly paceOf: (owner: Uint8Array, protocol: string, limits: PaceLimits | undefined) => Pace;
  readonly onOffence: (session: ConnectedSession, offence: Offence, detail: string) => void;
  /** Called once. */
  readonly onClose: (session: ConnectedSession, reason: string) => void;
}

export function createConnectedSession(
  { owner, miner, hello }: Identity,
  connection: PeerConnection,
  ports: SessionPorts,
): ConnectedSession {
  const { clock, wireName } = ports;
  const queues = new Map<string, NoticeQueue>();
  const requesting = new Map<string, RequestStreams>();
  const asking = new Map<string, Slots>();
  const answering = new Map<string, Slots>();
  let heard = clock.monotonic();
  let open = true;

  const session: ConnectedSession = {
    owner,
    ownerPublicKey: hello.ownerPublicKey,
    miner,
    nodeName: hello.nodeName,
    nonce: hello.nonce,
    version: versionText(hello.version),
    agent: hello.agent,
    mode: hello.mode,
    declaredAddress: hello.declaredAddress,
    remoteHost: connection.remoteHost,
    remotePort: connection.remotePort,
    outbound: connection.outbound,

    async request(protocol, message, timeoutMs) {
      const { answerBytesMax = 0, concurrent = 1 } = ports.requestHandler(protocol) ?? {};
      let streams = requesting.get(protocol);
      if (streams === undefined) {
        streams = new RequestStreams(connection, wireName(protocol), answerBytesMax, clock);
        requesting.set(protocol, streams);
      }
      const line = streams;
      return inLine(protocol, concurrent, timeoutMs, (left) => line.ask(message, left));
    },

    async converse(protocol, timeoutMs, action) {
      const { messageBytesMax = 0, concurrent = 1 } = ports.streamHandler(protocol) ?? {};
      const name = wireName(protocol);
      return inLine(protocol, concurrent, timeoutMs, (left) =>
        converse(
          (signal) => connection.open(name, messageBytesMax, signal),
          name,
          clock,
          left,
          action,
        ),
      );
    },

    notify(protocol, message) {
      if (!open) return false;
      let queue = queues.get(protocol);
      if (queue === undefined) {
        queue = createNoticeQueue(connection, wireName(protocol), clock, session.close);
        queues.set(protocol, queue);
      }
      return queue.put(message);
    },

    offend(offence, detail) {
      ports.onOffence(session, offence, detail);
    },

    close(reason) {
      if (!open) return;
      open = false;
      for (const streams of requesting.values()) streams.close();
      void connection.close();
      ports.onClose(session, reason);
    },

    serveRequest: (protocol, handler, stream) =>
      served(stream, () => {
        const slots = slotsOf(answering, protocol, handler.concurrent);
        const pace = ports.paceOf(owner, protocol, handler.pace);
        return answerRequests(stream, clock, slots, pace, async (message) => {
          if (!open) throw new Error('the session is closed');
          heard = clock.monotonic();
          return handler.answer(session, message);
        });
      }),

    serveStream: (protocol, handler, stream) =>
      served(stream, async () => {
        const pace = ports.paceOf(owner, protocol, handler.pace);
        await pause(clock, pace.spend(0));
        const release = await slotsOf(answering, protocol, handler.concurrent).take();
        try {
          if (!open) return stream.abort();
          const charge = (bytes: number): void => void pace.spend(bytes, 0);
          await handler.serve(session, paced(stream, pace, clock), charge);
        } finally {
          release();
        }
      }),

    async serveNotices(protocol, handler, stream) {
      try {
        await readNotices(stream, {
          clock,
          pace: ports.paceOf(owner, protocol, handler.pace),
          isOpen: () => open,
          take(message) {
            heard = clock.monotonic();
            handler.take(session, message);
          },
          onFlood: () => session.offend('flood', 'more notices than can be read'),
        });
      } catch (cause) {
        judge(cause);
        session.close(`notices: ${(cause as Error).message}`);
      }
    },

    isOpen: () => open,
    lastHeard: () => heard,
  };

  /** Runs after earlier requests of this protocol; the time spent waiting counts. */
  async function inLine<T>(
    protocol: string,
    concurrent: number,
    timeoutMs: number,
    action: (leftMs: number) => Promise<T>,
  ): Promise<T> {
    const slots = slotsOf(asking, protocol, concurrent);
    if (!open) throw new Error('the session is closed');
    if (slots.waiting >= WAITING_MAX) throw new Error('too many requests wait for this peer');
    const since = clock.monotonic();
    const release = await slots.take();
    let asked = since;
    try {
      const left = timeoutMs - (clock.monotonic() - since);
      if (!open || left <= 0) throw new Error(`${protocol}: no answer in time`);
      asked = clock.monotonic();
      const result = await action(left);
      heard = clock.monotonic();
      return result;
    } catch (cause) {
      if (cause instanceof MalformedStream) session.offend('malformed-message', cause.message);
      if (cause instanceof TooLate && heard <= asked) throw new SilentLine(cause.message);
      throw cause;
    } finally {
      release();
    }
  }

  /** A stream that the other side has opened. */
  async function served(stream: PeerStream, action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (cause) {
      stream.abort();
      judge(cause);
    }
  }

  function judge(cause: unknown): void {
    if (cause instanceof CodecError || cause instanceof MalformedStream) {
      session.offend('malformed-message', cause.message);
    } else if (isOurs(cause)) {
      throw cause;
    }
  }

  connection.onClose(() => session.close('the connection has ended'));
  return session;
}

function slotsOf(all: Map<string, Slots>, protocol: string, count: number): Slots {
  let slots = all.get(protocol);
  if (slots === undefined) {
    slots = createSlots(count);
    all.set(protocol, slots);
  }
  return slots;
}
