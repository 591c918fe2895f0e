/** The two ends of a connection in memory, and the pipe in each direction. */
import type { PeerConnection, PeerStream } from '../../../src/base/ports/network.ts';
import { type Carrier, type Link, type Party, Pipe } from './link.ts';
import { MemoryStream } from './stream.ts';

interface Side {
  readonly host: Party;
  /** From this side to the other. */
  readonly link: Link;
}

const NOTHING = new Uint8Array(0);

export class MemoryConnection implements PeerConnection, Carrier {
  readonly localId: Uint8Array;
  readonly remoteId: Uint8Array;
  readonly remoteHost: string;
  readonly remotePort: number;
  readonly outbound: boolean;
  readonly link: Link;
  readonly pipe: Pipe;
  private readonly host: Party;
  private readonly streams = new Set<MemoryStream>();
  private readonly closing: (() => void)[] = [];
  private other: MemoryConnection | undefined;
  private closed = false;

  static pair(caller: Side, listener: Side, port: number): [MemoryConnection, MemoryConnection] {
    const near = new MemoryConnection(caller, listener, port, true);
    const far = new MemoryConnection(listener, caller, caller.host.freePort(), false);
    near.other = far;
    far.other = near;
    return [near, far];
  }

  private constructor(own: Side, remote: Side, remotePort: number, outbound: boolean) {
    this.host = own.host;
    this.localId = own.host.id;
    this.remoteId = remote.host.id;
    this.remoteHost = remote.host.name;
    this.remotePort = remotePort;
    this.outbound = outbound;
    this.link = own.link;
    this.pipe = new Pipe(own.link.after);
  }

  async open(protocol: string, messageBytesMax: number, signal?: AbortSignal): Promise<PeerStream> {
    signal?.throwIfAborted();
    const { other } = this;
    if (this.closed || other === undefined) throw new Error('the connection is closed');
    const near = new MemoryStream(this, protocol, messageBytesMax);
    this.add(near);
    const { delayMs = 0, lost = false } = this.link.fate(protocol, NOTHING);
    if (!lost) this.pipe.put(delayMs, () => other.accept(near, protocol));
    return near;
  }

  /** The other side has opened a stream. */
  private accept(far: MemoryStream, protocol: string): void {
    if (this.closed) {
      this.other?.reset();
      return;
    }
    const known = this.host.protocol(protocol);
    const open = [...this.streams].filter((one) => one.inbound && one.protocol === protocol);
    if (known === undefined || open.length >= known.limits.inboundStreamsMax) {
      far.broken(new Error(`${protocol} is not accepted`));
      return;
    }
    const near = new MemoryStream(this, protocol, known.limits.messageBytesMax, far);
    this.add(near);
    far.join(near);
    known.handler(near, this);
  }

  private add(stream: MemoryStream): void {
    this.streams.add(stream);
    stream.onGone = () => void this.streams.delete(stream);
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.reset();
    // Behind what was sent before, so that it still arrives.
    const { delayMs = 0, lost } = this.link.fate('', NOTHING);
    if (lost !== true) this.pipe.put(delayMs, () => this.other?.reset());
  }

  abort(): void {
    if (this.closed) return;
    this.reset();
    const { delayMs = 0, lost } = this.link.fate('', NOTHING);
    if (lost !== true) this.link.after(delayMs, () => this.other?.reset());
  }

  /** This end is no more, and does not know it. */
  vanish(): void {
    this.closed = true;
  }

  isClosed(): boolean {
    return this.closed;
  }

  onClose(action: () => void): void {
    if (this.closed) action();
    else this.closing.push(action);
  }

  reset(): void {
    if (this.closed) return;
    this.closed = true;
    for (const stream of [...this.streams]) stream.broken(new Error('the connection is closed'));
    for (const action of this.closing.splice(0)) action();
  }
}
