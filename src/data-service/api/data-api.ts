/** The whole interface of the data service as routes for the HTTP port. */

import type { ApiError } from '../../base/errors.ts';
import type { HttpReply, HttpRequest, HttpRoute } from '../../base/http.ts';
import type { Log } from '../../base/ports.ts';
import { explorerRoutes } from '../../rest/explorer/explorer-routes.ts';
import { refused } from '../../rest-framework/answer.ts';
import { descriptionRoutes, docsRoutes } from '../../rest-framework/docs/docs-routes.ts';
import type { Description } from '../../rest-framework/openapi.ts';
import { fixed, movedTo, type Pages } from '../../rest-framework/pages.ts';
import type { AnyRoute } from '../../rest-framework/route.ts';
import { mountFor } from '../../rest-framework/server.ts';
import type { Clients } from './access.ts';
import { assets } from './routes/assets.ts';
import { blocks } from './routes/blocks.ts';
import { charts } from './routes/charts.ts';
import { data } from './routes/data.ts';
import { service } from './routes/service.ts';
import { transactionStream } from './routes/transaction-stream.ts';
import { transactions } from './routes/transactions.ts';
import { users } from './routes/users.ts';
import type { DataServices } from './services.ts';

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
  program: {
    title: 'platform-node data service',
    description: 'Search over the chain of a permissioned blockchain network.',
    keyed: 'Needs an API key where `data-service.auth` is api-key.',
    groups: {
      transactions: 'Transactions, found by text and filters.',
      assets: 'Assets and their holders.',
      users: 'Addresses with aliases, roles and balances.',
      blocks: 'Blocks.',
      data: 'Entries of data transactions.',
      health: 'Whether the service works well.',
      service: 'The service itself.',
    },
  },
});

/** The refusal of a request, before its body is read. */
export type AccessGuard = (request: HttpRequest) => HttpReply | undefined;

export interface DataApiDeps {
  readonly log: Log;
  readonly guard: (request: HttpRequest) => ApiError | undefined;
  readonly clients?: Clients | undefined;
  readonly pages?: Pages | undefined;
}

export function createDataApi(
  services: DataServices,
  { log, guard, pages, clients }: DataApiDeps,
): HttpRoute[] {
  const description = dataDescription(services.version);
  const described = descriptionRoutes(dataRoutes, description, ['openapi.json']);
  const { docs, explorer } = pages ?? {};
  return [
    ...mountFor(dataRoutes.map(forClient(clients)), services, {
      guards: (access) => (access === 'public' ? undefined : guard),
      log,
      strict: true,
    }),
    ...described,
    ...(docs === undefined ? [] : docsRoutes(docs).filter(({ pattern }) => pattern !== '/')),
    ...(explorer === undefined
      ? []
      : [fixed('/', movedTo('/explorer')), ...explorerRoutes(explorer)]),
  ];
}

/** The route with services that know whose request it is. */
const forClient =
  (clients: Clients | undefined) =>
  (route: AnyRoute<DataServices>): AnyRoute<DataServices> => ({
    ...route,
    handle(request, services) {
      const { http } = request as { readonly http: HttpRequest };
      const client = clients?.get(http) ?? http.remoteAddress();
      return route.handle(request, { ...services, client, signal: http.gone });
    },
  });

export const guardReply =
  (guard: DataApiDeps['guard']): AccessGuard =>
  (request) => {
    const error = guard(request);
    return error === undefined ? undefined : refused(error);
  };
