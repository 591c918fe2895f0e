/**
 * T: only AES-256-GCM over TCP on the loopback. One thread encrypts chunks of 64 KiB and sends
 * them; this one decrypts them. The file is also the thread's program.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

const CIPHER = 'aes-256-gcm';
const CHUNK_BYTES = 64 * 1024;
const TAG_BYTES = 16;
const SEALED_BYTES = CHUNK_BYTES + TAG_BYTES;
const KEY = Buffer.alloc(32, 1);
const MIB = 1024 * 1024;

const nonceOf = (count: number): Buffer => {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(count, 8);
  return nonce;
};

/** MiB per second for so many bytes. */
export async function aesOverTcp(bytes: number): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const worker = new Worker(new URL(import.meta.url), { workerData: { port, bytes } });
  const [socket] = (await once(server, 'connection')) as [Socket];
  const begun = performance.now();
  await openAll(socket, Math.ceil(bytes / CHUNK_BYTES));
  const seconds = (performance.now() - begun) / 1000;
  server.close();
  await worker.terminate();
  return bytes / MIB / seconds;
}

async function openAll(socket: Socket, chunks: number): Promise<void> {
  const sealed = Buffer.alloc(SEALED_BYTES);
  let [filled, count] = [0, 0];
  for await (const data of socket as AsyncIterable<Buffer>) {
    for (let at = 0; at < data.length; ) {
      const part = data.subarray(at, at + SEALED_BYTES - filled);
      sealed.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < SEALED_BYTES) continue;
      filled = 0;
      const decipher = createDecipheriv(CIPHER, KEY, nonceOf(count++));
      decipher.setAuthTag(sealed.subarray(CHUNK_BYTES));
      decipher.update(sealed.subarray(0, CHUNK_BYTES));
      decipher.final();
      if (count === chunks) return;
    }
  }
}

if (!isMainThread) {
  const { port, bytes } = workerData as { port: number; bytes: number };
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const plain = Buffer.alloc(CHUNK_BYTES, 7);
  for (let count = 0; count * CHUNK_BYTES < bytes; count++) {
    const cipher = createCipheriv(CIPHER, KEY, nonceOf(count));
    const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    if (!socket.write(sealed)) await once(socket, 'drain');
  }
  socket.end();
}
