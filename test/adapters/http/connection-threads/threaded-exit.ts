// A program of threaded.test.ts that serves on two threads and ends when it is told to.
import { threadedHttp } from '../../../../src/adapters/http/connection-threads/threaded.ts';
import type { HttpReply } from '../../../../src/base/ports/http.ts';

const handle = (): HttpReply => ({ status: 200, type: '', body: '' });
const server = await threadedHttp({
  threads: 2,
  workerUrl: new URL('threaded-worker.ts', import.meta.url),
  onDeath: () => undefined,
}).listen(
  [
    { method: 'GET', pattern: '/headers', maxBody: 0, keep: [], handle },
    { method: 'POST', pattern: '/size', maxBody: 1000, keep: [], handle },
  ],
  { host: '127.0.0.1', port: 0, cors: false },
);
process.once('message', () => process.exit(7));
process.send?.(server.port);
