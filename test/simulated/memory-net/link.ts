/** What the parts of a network in memory share. */
import type {
  PeerConnection,
  PeerStream,
  ProtocolLimits,
} from '../../../src/base/ports/network.ts';

/** One message on its way; a dial and the end of a connection have the empty text as protocol. */
export interface Delivery {
  readonly from: string;
  readonly to: string;
  readonly protocol: string;
  /** Empty for whatever has no content: dials, the opening and the end of streams. */
  readonly message: Uint8Array;
}

/** What becomes of it; nothing but a delay of 0 by default. */
export interface Fate {
  readonly delayMs?: number;
  /** It never arrives, and the sender is not told: a partition loses everything. */
  readonly lost?: boolean;
  /** It arrives twice. */
  readonly duplicated?: boolean;
  /** It arrives in part, which breaks the connection. */
  readonly truncated?: boolean;
}

/** One direction of a connection. */
export interface Link {
  readonly after: (ms: number, action: () => void) => unknown;
  readonly fate: (protocol: string, message: Uint8Array) => Fate;
}

export interface Protocol {
  readonly limits: ProtocolLimits;
  readonly handler: (stream: PeerStream, connection: PeerConnection) => void;
}

/** A host as its connections see it. */
export interface Party {
  readonly name: string;
  readonly id: Uint8Array;
  protocol(name: string): Protocol | undefined;
  /** Every connection has a port of its own at the end that dialled. */
  freePort(): number;
}

/** Delivers in the order of sending; a late item holds back those behind it, as in TCP. */
export class Pipe {
  private readonly after: Link['after'];
  private readonly queue: { ready: boolean; readonly action: () => void }[] = [];

  constructor(after: Link['after']) {
    this.after = after;
  }

  put(delayMs: number, action: () => void): void {
    const item = { ready: false, action };
    this.queue.push(item);
    this.after(delayMs, () => {
      item.ready = true;
      while (this.queue[0]?.ready === true) this.queue.shift()?.action();
    });
  }
}

/** A connection as its streams see it. */
export interface Carrier {
  readonly link: Link;
  readonly pipe: Pipe;
  abort(): void;
  isClosed(): boolean;
  /** The other end is gone, as something sent to it has shown. */
  reset(): void;
}
