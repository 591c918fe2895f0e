/**
 * Simple NTP (RFC 4330): asks the configured servers in turn and keeps the offset of the answer
 * with the shortest round trip of the last round.
 */
import { createSocket } from 'node:dgram';
import type { Log } from '../base/ports.ts';

export interface TimeSource {
  /** Milliseconds to add to the system time. */
  offsetMs(): number;
  /** True while the last answer is younger than the fatal timeout. */
  fresh(): boolean;
  /** Resolves at the first answer, or with false after `ms`. */
  ready(ms: number): Promise<boolean>;
  stop(): void;
}

export interface NtpOptions {
  /** host or host:port */
  readonly servers: readonly string[];
  readonly requestTimeoutMs: number;
  readonly expirationMs: number;
  readonly fatalMs: number;
}

interface Answer {
  readonly offsetMs: number;
  readonly roundTripMs: number;
}

const PACKET_BYTES = 48;
const SECONDS_1900_TO_1970 = 2_208_988_800;
const CLIENT_VERSION_4 = 0x23;

export function ntpSource(options: NtpOptions, log: Log): TimeSource {
  let offset = 0;
  let answeredAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const waiting = new Set<(ok: boolean) => void>();

  async function round(): Promise<void> {
    const answers = await Promise.all(
      options.servers.map((server) => ask(server, options.requestTimeoutMs)),
    );
    if (stopped) return;
    const best = answers
      .filter((answer) => answer !== undefined)
      .sort((a, b) => a.roundTripMs - b.roundTripMs)[0];
    if (best === undefined) log.warn('ntp.silent', { servers: options.servers });
    else {
      offset = best.offsetMs;
      answeredAt = performance.now();
      for (const resolve of waiting) resolve(true);
      waiting.clear();
    }
    timer = setTimeout(round, best === undefined ? options.requestTimeoutMs : options.expirationMs);
    timer.unref();
  }
  void round();

  return {
    offsetMs: () => offset,
    fresh: () => performance.now() - answeredAt <= options.fatalMs,
    ready(ms) {
      if (answeredAt > 0) return Promise.resolve(true);
      return new Promise((resolve) => {
        waiting.add(resolve);
        setTimeout(() => resolve(false), ms).unref();
      });
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

function ask(server: string, timeoutMs: number): Promise<Answer | undefined> {
  const [host = server, port] = server.split(':');
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    let done = false;
    const finish = (answer?: Answer): void => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      socket.close();
      resolve(answer);
    };
    const timer = setTimeout(finish, timeoutMs);
    const request = Buffer.alloc(PACKET_BYTES);
    request[0] = CLIENT_VERSION_4;
    const sentAt = Date.now();
    // The server echoes this stamp, so a stray or forged packet is told from the answer.
    request.writeBigUInt64BE(toNtp(sentAt), 40);
    socket.on('error', () => finish());
    socket.on('message', (packet) => {
      const receivedAt = Date.now();
      if (packet.length < PACKET_BYTES || packet.readBigUInt64BE(24) !== toNtp(sentAt)) return;
      const theirReceive = fromNtp(packet.readBigUInt64BE(32));
      const theirSend = fromNtp(packet.readBigUInt64BE(40));
      finish({
        offsetMs: Math.round((theirReceive - sentAt + (theirSend - receivedAt)) / 2),
        roundTripMs: receivedAt - sentAt - (theirSend - theirReceive),
      });
    });
    socket.send(request, Number(port ?? 123), host, (error) => error && finish());
  });
}

function toNtp(ms: number): bigint {
  const seconds = Math.floor(ms / 1000);
  const fraction = Math.floor(((ms % 1000) / 1000) * 2 ** 32);
  return (BigInt(seconds + SECONDS_1900_TO_1970) << 32n) | BigInt(fraction);
}

function fromNtp(stamp: bigint): number {
  const seconds = Number(stamp >> 32n) - SECONDS_1900_TO_1970;
  return seconds * 1000 + Number(((stamp & 0xffff_ffffn) * 1000n) >> 32n);
}
