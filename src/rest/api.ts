/** The whole REST API of a node as routes for the HTTP port. */
import type { HttpRoute } from '../base/ports/http.ts';
import type { Guard } from '../rest-framework/auth.ts';
import { descriptionRoutes } from '../rest-framework/docs/docs-routes.ts';
import { createLongBodies } from '../rest-framework/long-bodies.ts';
import type { Description } from '../rest-framework/openapi.ts';
import type { Pages } from '../rest-framework/pages.ts';
import type { AnyRoute } from '../rest-framework/route.ts';
import { mount } from '../rest-framework/server.ts';
import { createStreamedAnswers, type Frozen } from '../rest-framework/streamed-answers.ts';
import { transactionSchemas } from '../tx/json/transaction-schemas.ts';
import { createGuards } from './guards.ts';
import { limits } from './limits.ts';
import { groups, levels } from './route.ts';
import { routes } from './routes/index.ts';
import type { Services } from './services.ts';

export const createApi = (services: Services, pages: Pages = {}): HttpRoute[] => [
  ...mountNode(routes, services),
  ...descriptionRoutes(routes, nodeDescription(services.node.version), pages),
];

/** Routes of a node. */
export const mountNode = (
  routes: readonly AnyRoute<Services>[],
  services: Services,
  contractToken?: Guard,
): HttpRoute[] =>
  mount(routes, services, {
    guards: createGuards({ settings: services.settings, keys: services.keys, contractToken }),
    scheme: services.scheme,
    log: services.log,
    quotes: true,
    long: {
      ...createStreamedAnswers(services.clock, (rowsMax) => frozen(services, rowsMax)),
      ...createLongBodies(services.clock, 2 * limits.body.sendData),
    },
  });

/** Services that read the state of this moment. */
export function frozen(services: Services, rowsMax: number): Frozen<Services> {
  const { release, ...chain } = services.snapshot(rowsMax);
  return { services: { ...services, ...chain }, release };
}

export const nodeDescription = (version: string): Description => ({
  version,
  title: 'platform-node',
  description:
    'REST interface of a node of a permissioned blockchain network. With `Accept: ' +
    'application/json;large-significand-format=string` amounts are texts in answers.',
  groups,
  keys: levels,
  schemas: transactionSchemas(),
});
