/**
 * The Metrics port on prom-client, served as Prometheus text at `/metrics` on a separate listener.
 * So access to the metrics does not require access to the REST interface, and vice versa.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Metrics } from '../base/ports/metrics.ts';
import { createServer } from './http/node-own.ts';
import { listening, portOf } from './listening.ts';

export interface MetricsServer {
  readonly metrics: Metrics;
  /** The port in use. */
  readonly port: number;
  close(): Promise<void>;
}

const PATH = '/metrics';
const MILLISECONDS = 1000;

/** Rejects where the address cannot be bound. */
export async function servePrometheus(options: {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}): Promise<MetricsServer> {
  const { host, port } = options;
  const registry = new Registry();
  const readers: (() => void)[] = [];
  const server = createServer((request, response) => {
    answer(request, response, async () => {
      for (const read of readers) read();
      return { type: registry.contentType, text: await registry.metrics() };
    });
  });
  await listening(server, { host, port, exclusive: true }).catch((cause) => {
    throw new Error(`metrics: cannot listen on ${host}:${port}`, { cause });
  });
  return {
    metrics: registered(registry, readers),
    port: portOf(server) ?? port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  read: () => Promise<{ type: string; text: string }>,
): Promise<void> {
  const [path] = (request.url ?? '').split('?');
  if (path !== PATH || (request.method !== 'GET' && request.method !== 'HEAD')) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end(`The metrics are at ${PATH}\n`);
    return;
  }
  try {
    const { type, text } = await read();
    const length = Buffer.byteLength(text);
    response.writeHead(200, { 'content-type': type, 'content-length': length }).end(text);
  } catch (cause) {
    response.writeHead(500, { 'content-type': 'text/plain' }).end(`${String(cause)}\n`);
  }
}

function registered(registry: Registry, readers: (() => void)[]): Metrics {
  const common = { registers: [registry] };
  return {
    counter(name, help, labelNames = []) {
      const counter = new Counter({ name, help, labelNames, ...common });
      return { add: (amount = 1, labels = {}) => counter.inc(labels, amount) };
    },
    gauge(name, help, labelNames = []) {
      const gauge = new Gauge({ name, help, labelNames, ...common });
      // The library shows one without labels as 0 before anybody knows its value.
      if (labelNames.length === 0) gauge.remove();
      return {
        set: (value, labels = {}) => gauge.set(labels, value),
        remove: (labels = {}) => gauge.remove(labels),
      };
    },
    histogram(name, help, bounds, labelNames = []) {
      const histogram = new Histogram({ name, help, labelNames, buckets: [...bounds], ...common });
      return {
        observe: (seconds, labels = {}) => histogram.observe(labels, seconds),
        start(labels = {}) {
          const from = performance.now();
          return () => histogram.observe(labels, (performance.now() - from) / MILLISECONDS);
        },
      };
    },
    onRead: (action) => void readers.push(action),
  };
}
