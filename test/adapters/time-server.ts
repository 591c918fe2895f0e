/** A time server that answers with the true time or, on demand, with anything else or never. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Scope } from '../system/e2e/process.ts';

const EPOCH_SECONDS = 2_208_988_800n;

export interface TimeServer {
  readonly place: string;
  /** The number of questions so far. */
  asked(): number;
  /** What it adds to the true time, when it says it received and when it says it sent. */
  lie(receivedMs: number, sentMs?: number): void;
  answer(patch: (packet: Buffer) => void): void;
  /** Takes over how the packet is sent; `send` may be called later, often or never. */
  deliver(how: (packet: Buffer, send: (packet: Buffer) => void) => void): void;
}

/** As a host behind a firewall: it takes questions and says nothing. */
export async function blackHole(scope: Scope): Promise<TimeServer> {
  const server = await timeServer(scope);
  server.deliver(() => undefined);
  return server;
}

export async function timeServer(scope: Scope, host = '127.0.0.1'): Promise<TimeServer> {
  const socket: Socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  let [received, sent] = [0, 0];
  let patch = (_packet: Buffer): void => {};
  let how = (packet: Buffer, send: (packet: Buffer) => void): void => send(packet);
  let asked = 0;
  let isOpen = true;
  socket.on('message', (question, { port, address }) => {
    asked++;
    const packet = Buffer.alloc(48);
    packet[0] = 0x24;
    packet[1] = 2;
    // A question of another protocol has less; it only counts.
    if (question.length >= 48) question.copy(packet, 24, 40, 48);
    packet.writeBigUInt64BE(stamp(Date.now() + received), 32);
    packet.writeBigUInt64BE(stamp(Date.now() + sent), 40);
    patch(packet);
    how(packet, (one) => {
      if (isOpen) socket.send(one, port, address);
    });
  });
  socket.bind(0, host);
  await once(socket, 'listening');
  scope.teardown(() => {
    isOpen = false;
    socket.close();
  });
  const { port } = socket.address() as AddressInfo;
  return {
    place: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
    asked: () => asked,
    lie(receivedMs, sentMs = receivedMs) {
      [received, sent] = [receivedMs, sentMs];
    },
    answer(change) {
      patch = change;
    },
    deliver(change) {
      how = change;
    },
  };
}

const stamp = (ms: number): bigint =>
  (BigInt.asUintN(32, BigInt(Math.floor(ms / 1000)) + EPOCH_SECONDS) << 32n) |
  ((BigInt((((ms % 1000) + 1000) % 1000) | 0) << 32n) / 1000n);
