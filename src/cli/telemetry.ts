/** The metrics of a node in this process, where its configuration enables them. */
import { StartError } from '../base/faults/start-error.ts';
import type { Log } from '../base/ports/log.ts';
import type { Config } from '../node/config/settings.ts';
import type { NodePorts } from '../node/node.ts';

export interface Telemetry {
  /** The ports for the node. */
  readonly ports: NodePorts['telemetry'];
  /** The URL of the metrics. */
  readonly url: string | undefined;
  close(): Promise<void>;
}

const NONE: Telemetry = { ports: undefined, url: undefined, close: async () => {} };

/** Rejects where the address cannot be bound. */
export async function openTelemetry({ metrics }: Config, log: Log): Promise<Telemetry> {
  if (!metrics.enable) return NONE;
  // Nodes that do not serve metrics do not load the library.
  const { servePrometheus } = await import('../adapters/prometheus.ts');
  const { processReadings } = await import('../adapters/process-readings.ts');
  const { bindAddress: host, port } = metrics;
  const server = await servePrometheus({ host, port }).catch((cause: Error) => {
    const settings = 'metrics.bind-address, metrics.port';
    throw StartError.ofAddress(`metrics on ${host}:${port}`, settings, cause.cause ?? cause);
  });
  const url = `http://${hostInUrl(host)}:${server.port}/metrics`;
  log.info('metrics.listening', { url });
  return {
    ports: { metrics: server.metrics, process: processReadings() },
    url,
    close: server.close,
  };
}

/** An address in the form for a URL: an IPv6 address gets brackets. */
export const hostInUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);
