/**
 * The threads that hold the connections of nodes in this run: none, or as many as TEST_HTTP_THREADS
 * says. The runner runs some files once more with threads (scripts/repeated-runs.ts). Threads that
 * read the bodies of broadcasts are there in any case.
 */
import { createHttpThreads } from '../src/cli/workers/http-threads.ts';
import type { NodePorts } from '../src/node/node-ports.ts';

const asked = process.env['TEST_HTTP_THREADS'] ?? '0';
if (!/^\d{1,2}$/.test(asked))
  throw new Error(`TEST_HTTP_THREADS: ${asked} is no number of threads`);

export const httpThreads = Number(asked);

/** Settings of a node in a separate process. */
export const threadSettings: readonly string[] =
  httpThreads === 0 ? [] : [`rest-api.threads=${httpThreads}`];

/** Ports of a node in this process. */
export const withHttpThreads = (ports: NodePorts): NodePorts => ({
  ...ports,
  restHttp: createHttpThreads(httpThreads, ports.requestStop),
});
