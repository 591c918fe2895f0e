/** The protocols of the services: what each session serves, and its limits. */
import type { PeerStream, ProtocolLimits } from '../../base/ports/network.ts';
import type { ConnectedSession, StreamHandler } from './connected-session.ts';
import { REQUEST_HEAD_BYTES } from './requests.ts';
import type { NoticeHandler, RequestHandler } from './session.ts';

/** A protocol as it is registered with the network. */
interface Served {
  readonly protocol: string;
  readonly limits: ProtocolLimits;
  serve(session: ConnectedSession, stream: PeerStream): Promise<void>;
}

/** Requests that may wait at the transport in addition to those that are being answered. */
const SPARE_STREAMS = 4;
/** Of one protocol, so many are open at a time whatever the settings of a node. */
export const STREAMS_MIN = SPARE_STREAMS + 1;

export class Protocols {
  readonly requests = new Map<string, RequestHandler>();
  readonly streams = new Map<string, StreamHandler>();
  readonly notices = new Map<string, NoticeHandler>();

  all(): Served[] {
    return [
      ...Array.from(this.requests, ([protocol, handler]) => ({
        protocol,
        limits: {
          messageBytesMax: REQUEST_HEAD_BYTES + handler.messageBytesMax,
          inboundStreamsMax: handler.concurrent + SPARE_STREAMS,
        },
        serve: (session: ConnectedSession, stream: PeerStream) =>
          session.serveRequest(protocol, handler, stream),
      })),
      ...Array.from(this.streams, ([protocol, handler]) => ({
        protocol,
        limits: {
          messageBytesMax: handler.messageBytesMax,
          inboundStreamsMax: handler.concurrent + SPARE_STREAMS,
        },
        serve: (session: ConnectedSession, stream: PeerStream) =>
          session.serveStream(protocol, handler, stream),
      })),
      ...Array.from(this.notices, ([protocol, handler]) => ({
        protocol,
        limits: { messageBytesMax: handler.messageBytesMax, inboundStreamsMax: 1 },
        serve: (session: ConnectedSession, stream: PeerStream) =>
          session.serveNotices(protocol, handler, stream),
      })),
    ];
  }
}
