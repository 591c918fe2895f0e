// What a scrape of a node shows, and what it does not, as Prometheus reads it.
import t, { type Test } from 'tap';
import { processReadings } from '../../../src/adapters/process-readings.ts';
import { servePrometheus } from '../../../src/adapters/prometheus.ts';
import { metricTable } from '../../../src/node/metrics/observability.ts';
import type { NodePorts } from '../../../src/node/node-ports.ts';
import { wholeNode } from '../in-process.ts';

/** The disk is read every 2 s. */
const DISK_MS = 3000;

/** Values by their name with its labels. */
async function measured(
  t: Test,
  around: (ports: NodePorts) => NodePorts = (ports) => ports,
  features?: readonly number[],
) {
  const { port, metrics, close } = await servePrometheus({ host: '127.0.0.1', port: 0 });
  t.teardown(close);
  const telemetry = { metrics, process: processReadings() };
  const read = async (): Promise<Map<string, number>> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const lines = text.matchAll(/^(\w+(?:\{[^}]*\})?) (\S+)$/gm);
    return new Map([...lines].map(([, name = '', value]) => [name, Number(value)]));
  };
  const whole = await wholeNode(t, {
    around: (ports) => around({ ...ports, telemetry }),
    ...(features && { features }),
  });
  return { whole, read };
}

t.test('before the node measures anything, no gauge has a value', async (t) => {
  const { port, metrics, close } = await servePrometheus({ host: '127.0.0.1', port: 0 });
  t.teardown(close);
  for (const { kind, name, help, labels } of Object.values(metricTable)) {
    if (kind === 'gauge') metrics.gauge(name, help, labels);
  }
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  t.strictSame(text.match(/^\w.*$/gm), null, 'an alert on 0 would fire during the start');
});

t.test('what a node does not have, it does not show as 0', async (t) => {
  const { read } = await measured(t, undefined, []);
  const values = await read();
  const gauges = Object.values(metricTable).filter(({ kind }) => kind === 'gauge');
  const absent = gauges.filter(({ help }) => /\babsent\b/.test(help)).map(({ name }) => name);
  t.ok(absent.includes('node_signer_up') && absent.includes('node_certificate_end_seconds'));
  const names = [...values.keys()].map((name) => name.replace(/\{.*/, ''));
  t.strictSame(
    absent.filter((name) => names.includes(name)),
    [],
  );
  // What is a count, or a state, is there from the first scrape.
  for (const [name, value] of Object.entries({
    node_healthy: 1,
    node_shut_out: 0,
    node_pool_transactions: 0,
    node_pool_bytes: 0,
    node_verify_queue: 0,
    node_chain_height: 1,
    'node_event_readers{interface="rest"}': 0,
  })) {
    t.equal(values.get(name), value, name);
  }
  for (const name of ['node_pool_bytes_max', 'node_process_start_time_seconds']) {
    t.ok((values.get(name) ?? 0) > 0, name);
  }
});

t.test('a signer is shown where there is one', async (t) => {
  let problem: string | undefined;
  const { read } = await measured(t, (ports) => ({
    ...ports,
    keyHolder: {
      publicKeyOf: (address) => ports.keystore.publicKey(address),
      sign: () => Promise.reject(new Error('not asked in this test')),
      problem: () => problem,
    },
  }));
  t.equal((await read()).get('node_signer_up'), 1);
  problem = 'away';
  t.equal((await read()).get('node_signer_up'), 0);
});

t.test('a disk that cannot be read has no free bytes', async (t) => {
  let free: number | undefined;
  const disk = {
    async freeBytes() {
      if (free === undefined) throw new Error('EIO');
      return free;
    },
  };
  const { whole, read } = await measured(t, (ports) => ({ ...ports, disk }));
  const shown = async (): Promise<number | undefined> => {
    await whole.clock.advance(DISK_MS);
    return (await read()).get('node_disk_free_bytes');
  };
  t.equal(await shown(), undefined, 'unreadable at the start');
  free = 2 ** 40;
  t.equal(await shown(), 2 ** 40);
  free = undefined;
  t.equal(await shown(), undefined, 'unreadable later: the old value is not true any more');
});
