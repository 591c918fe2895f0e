/**
 * One question to one time server (SNTP, RFC 4330). An impossible answer counts as none: the answer
 * to another question, the answer of a server without a valid time, an answer sent before the
 * question.
 */
import { createSocket } from 'node:dgram';

export interface TimeAnswer {
  /** Time of the server minus `askedAt`, corrected by half of the round trip. */
  readonly offsetMs: number;
  readonly roundTripMs: number;
}

const PACKET_BYTES = 48;
const PORT = 123;
const SECONDS_1900_TO_1970 = 2_208_988_800;
const CLIENT_VERSION_4 = 0x23;
const MODE_SERVER = 4;
const LEAP_UNSYNCHRONIZED = 3;
const STRATUM_MAX = 15;
/** Both ends round to whole milliseconds. */
const ROUNDING_MS = 2;

/** `server` is host or host:port; `now` gives the time with which the answer is compared. */
export function askTime(
  server: string,
  timeoutMs: number,
  now: () => number,
): Promise<TimeAnswer | undefined> {
  const [host = server, port] = server.split(':');
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    let done = false;
    const finish = (answer?: TimeAnswer): void => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      socket.close();
      resolve(answer);
    };
    const timer = setTimeout(finish, timeoutMs);
    const request = Buffer.alloc(PACKET_BYTES);
    request[0] = CLIENT_VERSION_4;
    const askedAt = now();
    const since = performance.now();
    // The server echoes this timestamp, so a stray or forged packet is recognised.
    request.writeBigUInt64BE(toNtp(askedAt), 40);
    socket.on('error', () => finish());
    socket.on('message', (packet) => {
      const waited = performance.now() - since;
      if (packet.length < PACKET_BYTES || packet.readBigUInt64BE(24) !== toNtp(askedAt)) return;
      finish(readAnswer(packet, askedAt, waited));
    });
    socket.send(request, Number(port ?? PORT), host, (error) => error && finish());
  });
}

function readAnswer(packet: Buffer, askedAt: number, waitedMs: number): TimeAnswer | undefined {
  const head = packet.readUInt8(0);
  const stratum = packet.readUInt8(1);
  const isServer = (head & 7) === MODE_SERVER && head >> 6 !== LEAP_UNSYNCHRONIZED;
  if (!isServer || stratum === 0 || stratum > STRATUM_MAX) return undefined;
  const received = fromNtp(packet.readBigUInt64BE(32));
  const sent = fromNtp(packet.readBigUInt64BE(40));
  const roundTripMs = waitedMs - (sent - received);
  if (sent < received || roundTripMs < -ROUNDING_MS) return undefined;
  return { offsetMs: Math.round((received + sent - waitedMs) / 2 - askedAt), roundTripMs };
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
