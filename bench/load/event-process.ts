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

/** Until their stdin ends. */
export interface EventsTaken {
  readonly bytes: number;
  /** Of processor time. */
  readonly seconds: number;
  /** Clients whose answers have not ended. */
  readonly left: number;
}

const { port, paths, reads } = JSON.parse(process.argv[2] ?? '') as EventClients;
/** Enough to read what waits. */
const END_MS = 1000;
let begun = 0;
let bytes = 0;
let takes = reads;

/** All sockets read into the same memory: nobody looks at what they get. */
const buffer = Buffer.allocUnsafe(256 * 1024);

let before = process.cpuUsage();

function begin(): void {
  before = process.cpuUsage();
  bytes = 0;
  process.stdout.write('ready\n');
}

function open(path: string): Socket {
  let isFirst = true;
  const callback = (length: number): boolean => {
    bytes += length;
    if (isFirst) {
      isFirst = false;
      begun++;
      if (begun === paths.length) begin();
    }
    return takes;
  };
  const place = { port, host: '127.0.0.1', onread: { buffer, callback } };
  const socket = connect(place, () => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\n\r\n`);
  });
  socket.on('error', () => {});
  return socket;
}

const sockets = paths.map(open);
process.stdin.resume();
process.stdin.once('end', async () => {
  const taken = bytes;
  const { user, system } = process.cpuUsage(before);
  const seconds = (user + system) / 1e6;
  // One that never reads does not see its end before it has read what waits.
  takes = true;
  for (const socket of sockets) socket.resume();
  if (!reads) await new Promise((resolve) => setTimeout(resolve, END_MS));
  const left = sockets.filter(({ destroyed, readable }) => !destroyed && readable).length;
  process.stdout.write(`${JSON.stringify({ bytes: taken, seconds, left })}\n`);
  process.exit();
});
