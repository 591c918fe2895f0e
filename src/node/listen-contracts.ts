/** The listener on which running contracts read the state (docker-engine.rest-listen). */

import { StartError } from '../base/faults/start-error.ts';
import { contractLimits } from '../base/limits/contract-limits.ts';
import type { Containers } from '../base/ports/containers.ts';
import type { Http, HttpServer } from '../base/ports/http.ts';
import type { Executions } from '../contracts/execution/executions.ts';
import { createInternalApi } from '../rest/internal-contracts.ts';
import type { Services } from '../rest/services.ts';
import type { Config } from './config/settings.ts';

const CONNECTIONS_OF_ONE = contractLimits.connections.value;
/** Each connection has one request under way. */
const CONNECTIONS_MAX = contractLimits.containers.value * CONNECTIONS_OF_ONE;

export interface ContractListenerPorts {
  readonly http: Http;
  readonly containers?: Pick<Containers, 'isOfOne'> | undefined;
}

/** Undefined where it is switched off; rejects with StartError. */
export async function listenContracts(
  { dockerEngine }: Config,
  { http, containers }: ContractListenerPorts,
  services: Services,
  executions: Pick<Executions, 'find' | 'admit'>,
): Promise<HttpServer | undefined> {
  const { restListen } = dockerEngine;
  if (restListen === 'off') return undefined;
  const { host, port } = restListen;
  try {
    return await http.listen(createInternalApi(services, executions), {
      host,
      port,
      cors: false,
      maxConnections: CONNECTIONS_MAX,
      // So that no container takes those of another, as far as addresses tell them apart.
      maxConnectionsOfHost: (host) =>
        containers?.isOfOne(host) ? CONNECTIONS_OF_ONE : CONNECTIONS_MAX,
      maxInFlight: CONNECTIONS_MAX,
    });
  } catch (cause) {
    const { cause: reason = cause } = cause as Error;
    const part = `interface for contracts on ${host}:${port}`;
    throw StartError.ofAddress(part, 'docker-engine.rest-listen', reason);
  }
}
