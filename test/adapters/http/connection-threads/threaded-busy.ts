// A program of threaded.test.ts whose main thread has no time for others until a file is there.
import { threadedHttp } from '../../../../src/adapters/http/connection-threads/threaded.ts';
import type { HttpReply, HttpRoute } from '../../../../src/base/ports/http.ts';
import { busyUntil } from '../busy-until.ts';

function handle(): HttpReply {
  process.send?.('busy');
  busyUntil(process.argv[2]!);
  return { status: 200, type: '', body: '' };
}

const busy: HttpRoute = {
  method: 'POST',
  pattern: '/busy',
  maxBody: 1000,
  keep: [],
  mayWait: true,
  handle,
};
const server = await threadedHttp({
  threads: 1,
  workerUrl: new URL('threaded-worker.ts', import.meta.url),
  onDeath: () => process.exit(1),
}).listen([busy], { host: '127.0.0.1', port: 0, cors: false, maxInFlight: 1 });
process.send?.(server.port);
