/** The whole interface of the data service as routes for the HTTP port. */

import { clientOf } from '../../base/ip-range.ts';
import type { HttpRequest, HttpRoute } from '../../base/ports/http.ts';
import type { Log } from '../../base/ports/log.ts';
import type { Guard } from '../../rest-framework/auth.ts';
import { descriptionRoutes } from '../../rest-framework/docs/docs-routes.ts';
import type { Description } from '../../rest-framework/openapi.ts';
import type { Pages } from '../../rest-framework/pages.ts';
import type { AnyRoute } from '../../rest-framework/route.ts';
import { mount } from '../../rest-framework/server.ts';
import type { Clients } from './access.ts';
import { assets } from './routes/assets.ts';
import { blocks } from './routes/blocks.ts';
import { charts } from './routes/charts.ts';
import { data } from './routes/data.ts';
import { service } from './routes/service.ts';
import { transactionStream } from './routes/transaction-stream.ts';
import { transactions } from './routes/transactions.ts';
import { users } from './routes/users.ts';
import { type DataServices, groups } from './services.ts';

/** In the order in which a path is looked up: `/assets/count` before `/assets/{id}`. */
export const dataRoutes: readonly AnyRoute<DataServices>[] = [
  transactions,
  transactionStream,
  assets,
  users,
  blocks,
  data,
  service,
  charts,
].flatMap((group): readonly AnyRoute<DataServices>[] => Object.values(group));

export const dataDescription = (version: string): Description => ({
  version,
  title: 'platform-node data service',
  description: 'Search over the chain of a permissioned blockchain network.',
  groups,
  keys: { apiKey: { doc: 'Needs an API key where `data-service.auth` is api-key.' } },
  problem: { type: 'string' },
});

export interface DataApiDeps {
  readonly log: Log;
  readonly guard: Guard;
  readonly clients?: Clients | undefined;
  readonly pages?: Pages | undefined;
}

export function createDataApi(
  services: DataServices,
  { log, guard, pages, clients }: DataApiDeps,
): HttpRoute[] {
  const description = dataDescription(services.version);
  return [
    ...mount(dataRoutes.map(forClient(clients)), services, {
      guards: (access) => (access === 'public' ? undefined : guard),
      log,
      strict: true,
    }),
    ...descriptionRoutes(dataRoutes, description, pages, 'explorer', ['openapi.json']),
  ];
}

/** The route with services that know whose request it is. */
const forClient =
  (clients: Clients | undefined) =>
  (route: AnyRoute<DataServices>): AnyRoute<DataServices> => ({
    ...route,
    handle(request, services) {
      const { http } = request as { readonly http: HttpRequest };
      const client = clients?.get(http) ?? clientOf(http.remoteAddress());
      return route.handle(request, { ...services, client, signal: http.gone });
    },
  });
