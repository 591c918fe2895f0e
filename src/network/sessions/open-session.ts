/**
 * Makes a session of a connection whose other end has proved to be a registered owner: its requests
 * (asking.ts), its answers (serving.ts), and its notices (notices.ts).
 */
import type { PeerConnection } from '../../base/ports/network.ts';
import type { Evidence } from '../../codec/evidence.ts';
import { Asking } from './asking.ts';
import type { Identity } from './check-peer.ts';
import type { ConnectedSession, StreamHandler } from './connected-session.ts';
import { Life } from './life.ts';
import { versionText } from './node-version.ts';
import { createNoticeQueue, type NoticeQueue } from './notices.ts';
import { STREAMS_MIN } from './protocols.ts';
import { Serving, type ServingPorts } from './serving.ts';
import type { Offence, RequestHandler } from './session.ts';

export interface SessionPorts extends ServingPorts {
  /** Full name of a protocol on the wire. */
  readonly wireName: (protocol: string) => string;
  readonly requestHandler: (protocol: string) => RequestHandler | undefined;
  readonly streamHandler: (protocol: string) => StreamHandler | undefined;
  readonly onOffence: (session: ConnectedSession, offence: Offence, evidence: Evidence) => void;
  /** Called once. */
  readonly onClose: (session: ConnectedSession, reason: string) => void;
}

export function openSession(
  { owner, miner, hello }: Identity,
  connection: PeerConnection,
  ports: SessionPorts,
): ConnectedSession {
  const { clock, wireName } = ports;
  const life = new Life(clock);
  const queues = new Map<string, NoticeQueue>();
  const asking = new Asking(connection, life, {
    clock,
    wireName,
    onMalformed: (cause) => session.offend('malformed-message', cause),
  });

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

    request(protocol, message, timeoutMs) {
      const { answerBytesMax = 0, concurrent = 1 } = ports.requestHandler(protocol) ?? {};
      const limits = { bytesMax: answerBytesMax, concurrent };
      return asking.request(protocol, limits, message, timeoutMs);
    },
    converse(protocol, timeoutMs, action) {
      const { messageBytesMax = 0, concurrent = 1 } = ports.streamHandler(protocol) ?? {};
      // How many a node serves is a setting of its own; so many every node takes.
      const limits = { bytesMax: messageBytesMax, concurrent: Math.min(concurrent, STREAMS_MIN) };
      return asking.converse(protocol, limits, timeoutMs, action);
    },
    notify(protocol, message) {
      if (!life.isOpen) return false;
      let queue = queues.get(protocol);
      if (queue === undefined) {
        queue = createNoticeQueue(connection, wireName(protocol), clock, session.close);
        queues.set(protocol, queue);
      }
      return queue.put(message);
    },

    offend: (offence, evidence) => ports.onOffence(session, offence, evidence),
    close(reason) {
      if (!life.isOpen) return;
      life.isOpen = false;
      asking.close();
      void connection.close();
      ports.onClose(session, reason);
    },

    serveRequest: (protocol, handler, stream) => serving.requests(protocol, handler, stream),
    serveStream: (protocol, handler, stream) => serving.stream(protocol, handler, stream),
    serveNotices: (protocol, handler, stream) => serving.notices(protocol, handler, stream),
    isOpen: () => life.isOpen,
    lastHeard: () => life.heardAt,
  };
  const serving = new Serving(session, life, ports);

  connection.onClose(() => session.close('the connection has ended'));
  return session;
}
