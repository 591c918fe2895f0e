/** A time server that answers with the true time or, on demand, with a wrong one. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Scope } from '../e2e/process.ts';

const EPOCH_SECONDS = 2_208_988_800n;

export interface TimeServer {
  readonly place: string;
  /** What it adds to the true time, when it says it received and when it says it sent. */
  lie(receivedMs: number, sentMs?: number): void;
  answer(patch: (packet: Buffer) => void): void;
}

export async function timeServer(scope: Scope): Promise<TimeServer> {
  const socket: Socket = createSocket('udp4');
  let [received, sent] = [0, 0];
  let patch = (_packet: Buffer): void => {};
  socket.on('message', (question, { port, address }) => {
    const packet = Buffer.alloc(48);
    packet[0] = 0x24;
    packet[1] = 2;
    question.copy(packet, 24, 40, 48);
    packet.writeBigUInt64BE(stamp(Date.now() + received), 32);
    packet.writeBigUInt64BE(stamp(Date.now() + sent), 40);
    patch(packet);
    socket.send(packet, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  scope.teardown(() => void socket.close());
  return {
    place: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    lie(receivedMs, sentMs = receivedMs) {
      [received, sent] = [receivedMs, sentMs];
    },
    answer(change) {
      patch = change;
    },
  };
}

const stamp = (ms: number): bigint =>
  ((BigInt(Math.floor(ms / 1000)) + EPOCH_SECONDS) << 32n) |
  ((BigInt((((ms % 1000) + 1000) % 1000) | 0) << 32n) / 1000n);
