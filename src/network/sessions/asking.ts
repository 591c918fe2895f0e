/**
 * This node's requests to one peer, and its conversations on separate streams.
 *
 * Invariants: a limited number of each protocol run at a time, and the others wait in a queue,
 * where their time counts; a time-out during which no other message arrived is a SilentLine and not
 * a refusal.
 */
import { NeverBegun, TooLate } from '../../base/deadline.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { MalformedStream, type PeerConnection, type PeerStream } from '../../base/ports/network.ts';
import type { Life } from './life.ts';
import { converse, NoAnswer, RequestStreams, SilentLine } from './requests.ts';
import { Semaphores } from './semaphores.ts';

export interface AskingPorts {
  readonly clock: Clock;
  /** Full name of a protocol on the wire. */
  readonly wireName: (protocol: string) => string;
  readonly onMalformed: (cause: MalformedStream) => void;
}

/** As the handler of the same protocol declares it. */
interface AnswerLimits {
  readonly bytesMax: number;
  /** For one session at a time. */
  readonly concurrent: number;
}

/** Requests of this node that may wait for one peer. */
const WAITING_MAX = 1000;

export class Asking {
  private readonly connection: PeerConnection;
  private readonly life: Life;
  private readonly ports: AskingPorts;
  private readonly streams = new Map<string, RequestStreams>();
  private readonly semaphores = new Semaphores();

  constructor(connection: PeerConnection, life: Life, ports: AskingPorts) {
    this.connection = connection;
    this.life = life;
    this.ports = ports;
  }

  request(
    protocol: string,
    { bytesMax, concurrent }: AnswerLimits,
    message: Uint8Array,
    timeoutMs: number,
  ): Promise<Uint8Array> {
    const { wireName, clock } = this.ports;
    let streams = this.streams.get(protocol);
    if (streams === undefined) {
      streams = new RequestStreams(this.connection, wireName(protocol), bytesMax, clock);
      this.streams.set(protocol, streams);
    }
    const line = streams;
    return this.inLine(protocol, concurrent, timeoutMs, (leftMs) =>
      line.ask(message, leftMs),
    ).catch((cause) => {
      throw cause instanceof TooLate ? new NoAnswer(cause.message) : cause;
    });
  }

  converse<T>(
    protocol: string,
    { bytesMax, concurrent }: AnswerLimits,
    timeoutMs: number,
    action: (stream: PeerStream) => Promise<T>,
  ): Promise<T> {
    const name = this.ports.wireName(protocol);
    const open = (signal: AbortSignal) => this.connection.open(name, bytesMax, signal);
    return this.inLine(protocol, concurrent, timeoutMs, (leftMs) =>
      converse(open, name, this.ports.clock, leftMs, action),
    );
  }

  close(): void {
    for (const streams of this.streams.values()) streams.close();
  }

  /** Runs after earlier requests of this protocol. */
  private async inLine<T>(
    protocol: string,
    concurrent: number,
    timeoutMs: number,
    action: (leftMs: number) => Promise<T>,
  ): Promise<T> {
    const { life } = this;
    const { clock, onMalformed } = this.ports;
    const places = this.semaphores.of(protocol, concurrent);
    life.requireOpen();
    if (places.waiting >= WAITING_MAX) throw new NeverBegun('too many requests wait for this peer');
    const since = clock.monotonic();
    const release = await places.acquireWithin(clock, timeoutMs);
    const asked = clock.monotonic();
    const leftMs = timeoutMs - (asked - since);
    try {
      life.requireOpen();
      if (release === undefined || leftMs <= 0) {
        throw new NeverBegun(`${protocol}: no answer in time`);
      }
      const result = await action(leftMs);
      life.hear();
      return result;
    } catch (cause) {
      if (cause instanceof MalformedStream) onMalformed(cause);
      if (cause instanceof TooLate && life.heardAt <= asked) throw new SilentLine(cause.message);
      throw cause;
    } finally {
      release?.();
    }
  }
}
