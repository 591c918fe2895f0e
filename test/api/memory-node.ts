/**
 * A whole node in memory whose REST interface answers on a free port: its genesis block gives five
 * accounts their balances and the first one every role. It makes no blocks by itself.
 */
import { hyperExpress } from '../../src/adapters/http/hyper-express.ts';
import { createApi } from '../../src/api/api.ts';
import type { Services } from '../../src/api/services.ts';
import type { HttpServer, HttpServerOptions } from '../../src/base/http.ts';
import { readPages } from '../../src/cli/page-files.ts';
import type { Scope } from '../e2e/process.ts';
import { type WholeNode, type WholeOptions, wholeNode } from '../node/in-process.ts';

export interface MemoryNode extends WholeNode {
  /** Where its REST interface answers. */
  readonly url: string;
  /** Another server of the same node, some of whose services are others. */
  serve(changes?: Partial<Services>, options?: Partial<HttpServerOptions>): Promise<Served>;
}

export interface Served {
  readonly url: string;
  readonly server: HttpServer;
}

export async function memoryNode(scope: Scope, options: WholeOptions = {}): Promise<MemoryNode> {
  const set = ['miner.enable=no', ...(options.set ?? [])];
  const whole = await wholeNode(scope, { ...options, set });
  async function serve(
    changes: Partial<Services> = {},
    options: Partial<HttpServerOptions> = {},
  ): Promise<Served> {
    const routes = createApi({ ...whole.node.services, ...changes }, {}, readPages());
    const server = await hyperExpress.listen(routes, {
      host: '127.0.0.1',
      port: 0,
      cors: true,
      ...options,
    });
    scope.teardown(() => server.close());
    const scheme = options.tls === undefined ? 'http' : 'https';
    return { server, url: `${scheme}://127.0.0.1:${server.port}` };
  }
  return { ...whole, serve, url: (await serve()).url };
}
