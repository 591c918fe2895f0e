/**
 * The memory of a node that runs, read from outside, in megabytes: what the system has given it, and
 * what of that is in use. V8 and the allocator keep memory that nothing holds any more, and V8 collects
 * late where little is allocated, so only the second one tells whether something has been left behind.
 */
import { readFileSync } from 'node:fs';
import type { NetworkNode } from '../../e2e/process-network.ts';

/** The inspector of each node listens on a port of its own. */
export const INSPECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

const USAGE = 'JSON.stringify(process.memoryUsage())';
/** What the first one frees may hold more. */
const COLLECTIONS = 3;
const MB = 1024 * 1024;

export function residentMemory({ pid }: Pick<NetworkNode, 'pid'>): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}

/** What objects and buffers of the main thread take after a collection. */
export async function memoryInUse(node: Pick<NetworkNode, 'log'>): Promise<number> {
  const [, url] = /Debugger listening on (ws:\S+)/.exec(node.log()) ?? [];
  if (url === undefined) throw new Error('the node has no inspector');
  const socket = new WebSocket(url);
  try {
    await once(socket, 'open');
    for (let i = 0; i < COLLECTIONS; i++) await call(socket, 'HeapProfiler.collectGarbage');
    const answer = await call(socket, 'Runtime.evaluate', { expression: USAGE });
    const { result } = answer as { readonly result: { readonly value: string } };
    const { heapUsed, external } = JSON.parse(result.value) as NodeJS.MemoryUsage;
    return Math.round((heapUsed + external) / MB);
  } finally {
    socket.close();
  }
}

/** One at a time, so the next message is the answer. */
async function call(socket: WebSocket, method: string, params = {}): Promise<unknown> {
  const answered = once(socket, 'message');
  socket.send(JSON.stringify({ id: 1, method, params }));
  const { data } = (await answered) as MessageEvent;
  return (JSON.parse(String(data)) as { readonly result: unknown }).result;
}

function once(socket: WebSocket, name: 'open' | 'message'): Promise<Event> {
  return new Promise((resolve, reject) => {
    socket.addEventListener(name, resolve, { once: true });
    socket.addEventListener('close', () => reject(new Error('the inspector has closed')), {
      once: true,
    });
  });
}
