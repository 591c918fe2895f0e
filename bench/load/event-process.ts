/**
 * Clients of GET /events in a process of their own. Reads its orders as JSON from the first argument,
 * says `ready` when the node has begun all answers, and ends with its stdin.
 */
import { connect, type Socket } from 'node:net';

export interface EventClients {
  readonly port: number;
  /** One for each client. */
  readonly paths: readonly string[];
  /** False: they take the beginning of the answer and nothing more. */
  readonly reads: boolean;
}

const { port, paths, reads } = JSON.parse(process.argv[2] ?? '') as EventClients;
/** Enough to read what waits. */
const END_MS = 1000;
let begun = 0;
let bytes = 0;

function open(path: string): Socket {
  const socket = connect(port, '127.0.0.1', () => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\n\r\n`);
  });
  socket.once('data', () => {
    if (!reads) socket.pause();
    begun++;
    if (begun === paths.length) process.stdout.write('ready\n');
  });
  socket.on('data', (piece) => {
    bytes += piece.length;
  });
  socket.on('error', () => {});
  return socket;
}

const sockets = paths.map(open);
process.stdin.resume();
process.stdin.once('end', async () => {
  const taken = bytes;
  // One that never reads does not see its end before it has read what waits.
  for (const socket of sockets) socket.resume();
  if (!reads) await new Promise((resolve) => setTimeout(resolve, END_MS));
  const left = sockets.filter(({ destroyed, readable }) => !destroyed && readable).length;
  process.stdout.write(`${JSON.stringify({ bytes: taken, left })}\n`);
  process.exit();
});
