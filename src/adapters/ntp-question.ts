/**
 * One question to one time server (SNTP, RFC 4330). An impossible answer counts as none: the answer
 * to another question, from another address, of a server without a valid time, sent before the
 * question, or so late that half of its way may be longer than the servers may differ.
 *
 * Invariants: every question ends within its time; it keeps no thread of the process busy while a
 * name server is silent, and leaves nothing open.
 */
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { CANCELLED, type LookupAddress, TIMEOUT } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

export interface TimeAnswer {
  /** Time of the server minus that of this process, corrected by half of the round trip. */
  readonly offsetMs: number;
}

/** `refusal`: the server wants no more questions for a while. Undefined: no answer that counts. */
export type Reply = TimeAnswer | 'refusal' | undefined;

/** Answers that differ by at most this much agree. */
export const AGREE_MS = 1000;
/** The time of an answer may be wrong by half of this. */
const ROUND_TRIP_MS_MAX = 2 * AGREE_MS;
const PACKET_BYTES = 48;
const PORT = 123;
const SECONDS_1900_TO_1970 = 2_208_988_800;
const ERA_SECONDS = 2 ** 32;
const CLIENT_VERSION_4 = 0x23;
const MODE_SERVER = 4;
const LEAP_UNSYNCHRONIZED = 3;
const STRATUM_MAX = 15;
/** What a server of stratum 0 writes in place of its source, to be left alone. */
const REFUSALS = ['DENY', 'RSTR', 'RATE'];
/** Both ends round to whole milliseconds. */
const ROUNDING_MS = 2;

export interface Asking {
  readonly timeoutMs: number;
  /** The time with which the answer is compared. */
  readonly now: () => number;
  /** Ends the question early, as without an answer. */
  readonly signal?: AbortSignal;
  /** The name servers. */
  readonly names?: Names;
  /** The resolver of the system. */
  readonly resolve?: Resolve;
}

type Names = Pick<Resolver, 'resolve4' | 'cancel'>;
type Resolve = (host: string) => Promise<LookupAddress>;

/** `server` is a host, host:port or [IPv6 address]:port. */
export async function askTime(server: string, asking: Asking): Promise<Reply> {
  const { timeoutMs, now, signal, resolve = lookup } = asking;
  if (signal?.aborted) return undefined;
  const { names = new Resolver({ timeout: timeoutMs, tries: 1 }) } = asking;
  const { promise: ended, resolve: end } = Promise.withResolvers<Reply>();
  const giveUp = (): void => end(undefined);
  const timer = setTimeout(giveUp, timeoutMs);
  signal?.addEventListener('abort', giveUp);
  const { host, port } = placeOf(server);
  let socket: Socket | undefined;
  let isOver = false;
  addressOf(host, names, resolve)
    .then(({ address, family }) => {
      if (isOver) return;
      socket = createSocket(family === 6 ? 'udp6' : 'udp4');
      exchange(socket, address, port, now, end);
    })
    .catch(giveUp);
  const reply = await ended;
  isOver = true;
  signal?.removeEventListener('abort', giveUp);
  clearTimeout(timer);
  names.cancel();
  socket?.close();
  return reply;
}

function placeOf(server: string): { readonly host: string; readonly port: number } {
  if (isIP(server) !== 0) return { host: server, port: PORT };
  const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]*))(?::(\d+))?$/.exec(server) ?? [];
  return { host: bracketed ?? plain ?? server, port: Number(port ?? PORT) };
}

/**
 * The resolver of the system holds one of the few threads of the process until it gives up, so it is
 * asked only where the name servers have answered something, or where there are none.
 */
async function addressOf(host: string, names: Names, resolve: Resolve): Promise<LookupAddress> {
  const family = isIP(host);
  if (family !== 0) return { address: host, family };
  try {
    const [address] = await names.resolve4(host);
    if (address !== undefined) return { address, family: 4 };
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === TIMEOUT || code === CANCELLED) throw cause;
  }
  return resolve(host);
}

/** Sends the question and calls `end` with the first packet that answers it. */
function exchange(
  socket: Socket,
  address: string,
  port: number,
  now: () => number,
  end: (reply?: Reply) => void,
): void {
  const request = Buffer.alloc(PACKET_BYTES);
  request[0] = CLIENT_VERSION_4;
  // The server echoes the timestamp of a question. A random one cannot be guessed by others.
  const nonce = randomBytes(8);
  nonce.copy(request, 40);
  let askedAt = 0;
  let since = 0;
  socket.on('error', () => end());
  socket.on('message', (packet) => {
    const waited = performance.now() - since;
    if (packet.length < PACKET_BYTES || !packet.subarray(24, 32).equals(nonce)) return;
    end(readAnswer(packet, askedAt, waited));
  });
  // A connected socket takes packets of the server alone, and learns that nobody listens there.
  socket.connect(port, address, () => {
    askedAt = now();
    since = performance.now();
    socket.send(request, (error) => error && end());
  });
}

function readAnswer(packet: Buffer, askedAt: number, waitedMs: number): Reply {
  const head = packet.readUInt8(0);
  const stratum = packet.readUInt8(1);
  if ((head & 7) !== MODE_SERVER) return undefined;
  if (stratum === 0)
    return REFUSALS.includes(packet.toString('latin1', 12, 16)) ? 'refusal' : undefined;
  if (head >> 6 === LEAP_UNSYNCHRONIZED || stratum > STRATUM_MAX) return undefined;
  const received = fromNtp(packet.readBigUInt64BE(32));
  const sent = fromNtp(packet.readBigUInt64BE(40));
  const roundTripMs = waitedMs - (sent - received);
  if (sent < received || roundTripMs < -ROUNDING_MS) return undefined;
  if (roundTripMs > ROUND_TRIP_MS_MAX) return undefined;
  return { offsetMs: Math.round((received + sent - waitedMs) / 2 - askedAt) };
}

/** A stamp of the second half of its era is of 1968 to 2036, one of the first of 2036 to 2104. */
function fromNtp(stamp: bigint): number {
  const ofEra = Number(stamp >> 32n);
  const since1900 = ofEra < ERA_SECONDS / 2 ? ofEra + ERA_SECONDS : ofEra;
  const seconds = since1900 - SECONDS_1900_TO_1970;
  return seconds * 1000 + Number(((stamp & 0xffff_ffffn) * 1000n) >> 32n);
}
