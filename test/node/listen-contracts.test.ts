/** Each container has its part of the listener of reads. */
import t from 'tap';
import type { Services } from '../../src/api/services.ts';
import { contractLimits } from '../../src/base/contract-limits.ts';
import type { Http, HttpServerOptions } from '../../src/base/http.ts';
import type { Config } from '../../src/node/config/settings.ts';
import { listenContracts } from '../../src/node/listen-contracts.ts';

t.test('all containers at once stay within the connections', async (t) => {
  const seen: HttpServerOptions[] = [];
  const http: Http = {
    async listen(_routes, options) {
      seen.push(options);
      return { port: 1, reload: async () => {}, close: async () => {} };
    },
  };
  const config = { dockerEngine: { restListen: { host: '127.0.0.1', port: 0 } } } as Config;
  const executions = { find: t.fail, admit: t.fail } as never;
  await listenContracts(config, http, {} as Services, executions);
  const ofOne = contractLimits.connections.value;
  const ofAll = ofOne * contractLimits.containers.value;
  t.match(seen, [{ maxConnectionsOfHost: ofOne, maxConnections: ofAll, maxInFlight: ofAll }]);
});
