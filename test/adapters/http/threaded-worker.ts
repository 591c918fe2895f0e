// A thread of the tests of the server: its rules of access, and one part of a route.
import { parentPort, workerData } from 'node:worker_threads';
import { serveConnections } from '../../../src/adapters/http/connection-thread.ts';
import type { HttpReply } from '../../../src/base/http.ts';
import { rules } from './rules.ts';

const text = (status: number, body: string): HttpReply => ({ status, type: 'text/plain', body });

serveConnections(parentPort!, workerData, {
  admit: (access) => rules[access],
  works: {
    half(body) {
      const asked = Buffer.from(body).toString();
      if (asked === 'die') setImmediate(() => Promise.reject(new Error('unexpected')));
      if (asked === 'be busy') for (const end = performance.now() + 600; performance.now() < end; );
      if (asked === 'pass on') return undefined;
      if (asked === 'refuse') return text(400, 'refused by the thread');
      return { message: Uint8Array.from(body), reply: () => text(200, `own answer to ${asked}`) };
    },
  },
});
