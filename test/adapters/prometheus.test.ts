// The listener of metrics as an HTTP server.
import t from 'tap';
import { servePrometheus } from '../../src/adapters/prometheus.ts';
import { headProblems } from '../rest/fixtures/head.ts';
import { call } from '../rest-cases/runner.ts';
import { refusesTwoLengths } from './http/two-lengths.ts';

t.test('HEAD, and a body of two lengths', async (t) => {
  const { port, metrics, close } = await servePrometheus({ host: '127.0.0.1', port: 0 });
  t.teardown(close);
  metrics.gauge('some_gauge', 'Something.').set(1);
  const url = `http://127.0.0.1:${port}/metrics`;
  t.match((await call('GET', url)).text, 'some_gauge 1');
  t.strictSame(await headProblems((method) => call(method, url)), []);
  t.match((await call('HEAD', url)).headers['content-length'], /^\d+$/);
  await refusesTwoLengths(t, port, 'POST /metrics');
});
