// Where threads hold the connections, whoever orders transactions gives way to them.
import { getPriority } from 'node:os';
import t from 'tap';
import { native } from '../../../src/adapters/http/listener.ts';
import { createHttpThreads, threadsProblem } from '../../../src/cli/workers/http-threads.ts';
import { niceValues } from '../../nice-values.ts';

const settings = { host: '127.0.0.1', port: 0, cors: false };
const forThreads = {
  family: 'curve25519',
  chainId: 84,
  nativeToken: 'WEST',
  settings: {},
  keys: { apiKeys: [] },
};

const skip = process.platform !== 'linux' || native === undefined;

t.test('where the addon does not load, there are no threads', async (t) => {
  t.equal(threadsProblem(0, 'no addon'), undefined);
  t.equal(threadsProblem(2, undefined), undefined);
  t.equal(
    threadsProblem(2, 'no addon'),
    'rest-api.threads = 2 needs uWebSockets.js, which does not load here (no addon); ' +
      'set rest-api.threads = 0, or run the node on Node 22',
  );
  if (native === undefined) t.throws(() => createHttpThreads(2, t.fail), /rest-api\.threads = 2/);
});

t.test('the calling thread gives way to connections', { skip }, async (t) => {
  const own = getPriority();
  const without = createHttpThreads(0, (cause) => t.fail(String(cause)));
  await (await without.listen([], { ...settings, forThreads })).close();
  t.equal(getPriority(), own, 'it holds the connections itself');

  const http = createHttpThreads(1, (cause) => t.fail(String(cause)));
  const server = await http.listen([], { ...settings, forThreads });
  t.equal(getPriority(), Math.min(19, own + 3));
  t.ok(niceValues().includes(own), 'the thread of connections does not');
  await server.close();
});
